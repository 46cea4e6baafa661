import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type TestNats, withNats } from '@longrein/testing';
import type { NatsConnection } from '@nats-io/transport-node';
import { Steering } from './steering.js';

const nats: TestNats = withNats();

/** A replica that notes which of its connections were superseded. */
class Replica {
  readonly superseded: string[] = [];

  private constructor(
    readonly connection: NatsConnection,
    readonly steering: Steering,
  ) {}

  static async start(now: () => number): Promise<Replica> {
    const connection = await nats.connect();
    const replica = new Replica(connection, new Steering(connection, now));
    replica.steering.start();
    await connection.flush();
    return replica;
  }

  take(agent: string, connection: string): void {
    this.steering.take(agent, connection, () => this.superseded.push(connection));
  }
}

let a: Replica;
let b: Replica;
let skew: number;

beforeEach(async () => {
  skew = 0;
  a = await Replica.start(() => 1_000);
  b = await Replica.start(() => 1_000 + skew);
});

afterEach(() => {
  a.steering.stop();
  b.steering.stop();
});

/** Every claim has been heard, and every claim made in answer. */
async function settled(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    for (const { connection } of [a, b]) await connection.flush();
  }
}

describe('Steering', () => {
  it('supersedes the older connection of the same replica and of another one', async () => {
    a.take('agent', 'first');
    a.take('agent', 'second');
    expect(a.superseded).toEqual(['first']);
    await settled();
    b.take('agent', 'third');
    b.take('other', 'alone');
    await settled();
    expect(a.superseded).toEqual(['first', 'second']);
    expect(b.superseded).toEqual([]);
  });

  it('lets exactly one of two simultaneous claims stand', async () => {
    a.take('agent', 'left');
    b.take('agent', 'right');
    await settled();
    expect([...a.superseded, ...b.superseded]).toEqual(['left']);
  });

  it('prefers the newer connection although its replica’s clock is behind', async () => {
    skew = -500;
    a.take('agent', 'older');
    await settled();
    b.take('agent', 'newer');
    await settled();
    expect(a.superseded).toEqual(['older']);
    expect(b.superseded).toEqual([]);
  });

  it('leaves one connection when a replica did not hear of the other’s claim', async () => {
    skew = -500;
    b.steering.stop();
    a.take('agent', 'unheard');
    await settled();
    b.steering.start();
    await settled();
    b.take('agent', 'unaware');
    await settled();
    expect(a.superseded).toEqual([]);
    expect(b.superseded).toEqual(['unaware']);
  });

  it('forgets a connection that is gone, and only that one', async () => {
    a.take('agent', 'gone');
    a.take('agent', 'here');
    a.steering.drop('agent', 'gone');
    await settled();
    b.take('agent', 'new');
    await settled();
    expect(a.superseded).toEqual(['gone', 'here']);
    b.steering.drop('agent', 'new');
    a.take('agent', 'last');
    await settled();
    expect(b.superseded).toEqual([]);
  });

  it('ignores what is no claim', async () => {
    a.take('agent', 'steady');
    b.connection.publish('gateway.steering.agent', 'nonsense');
    b.connection.publish('gateway.steering.agent', '{"rank":"9","connection":"x"}');
    b.connection.publish('gateway.steering.agent', 'null');
    await settled();
    expect(a.superseded).toEqual([]);
  });
});
