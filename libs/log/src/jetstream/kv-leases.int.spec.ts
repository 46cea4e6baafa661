import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type TestNats, startTestNats } from '@longrein/testing';
import { type KV, Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/nats-core';
import { KvPartitionLeases } from './kv-leases.js';
import { leaseBucket } from './names.js';

const TTL = 1_000;

/** Handlers that write down what they are told, and wait where they are told to. */
class Recorder {
  readonly calls: string[] = [];
  readonly #holds = new Map<string, Promise<void>>();
  #check: () => void = () => undefined;

  hold(call: string): () => void {
    const held = Promise.withResolvers<void>();
    this.#holds.set(call, held.promise);
    return () => {
      this.#holds.delete(call);
      held.resolve();
    };
  }

  /** Resolves once this was told so many times. */
  told(call: string, times = 1): Promise<void> {
    return new Promise((resolve) => {
      this.#check = () => {
        if (this.calls.filter((made) => made === call).length >= times) resolve();
      };
      this.#check();
    });
  }

  acquired = (partition: number): Promise<void> => this.#record(`acquire ${partition}`, `acquired ${partition}`);

  lost = (partition: number): Promise<void> => this.#record(`lose ${partition}`, `lost ${partition}`);

  async #record(begin: string, end: string): Promise<void> {
    this.#note(begin);
    await this.#holds.get(begin);
    this.#note(end);
  }

  #note(call: string): void {
    this.calls.push(call);
    this.#check();
  }
}

describe('leases in a bucket', () => {
  let nats: TestNats;
  let nc: NatsConnection;
  let started: KvPartitionLeases[];
  beforeEach(async () => {
    nats = await startTestNats();
    nc = await nats.connect();
    started = [];
  });
  afterEach(async () => {
    await Promise.all(started.map((leases) => leases.stop()));
    await nats.stop();
  });

  function replica(name: string, partitions: number, problems: string[] = []): KvPartitionLeases {
    const onProblem = (problem: string): unknown => problems.push(problem);
    const leases = new KvPartitionLeases(nc, { scope: 'test', replica: name, partitions, ttl_ms: TTL, onProblem });
    started.push(leases);
    return leases;
  }

  function bucket(): Promise<KV> {
    return new Kvm(nc).open(leaseBucket('test'));
  }

  /** Resolves when the lease was renewed often enough to have outlived its first expiry; rejects when it ends. */
  async function outlives(partition: number): Promise<void> {
    const begun = Date.now();
    const watch = await (await bucket()).watch({ key: `p.${partition}` });
    for await (const { operation, created } of watch) {
      if (operation !== 'PUT') throw new Error(`the lease of partition ${partition} ended: ${operation}`);
      if (created.getTime() > begun + 2 * TTL) return;
    }
  }

  it('renews the others while one partition is slow to take over', async () => {
    const recorder = new Recorder();
    const leases = replica('a', 3);
    const release = recorder.hold('acquire 0');
    const starting = leases.start(recorder);
    await recorder.told('acquire 0');
    await outlives(0);
    release();
    await starting;
    expect([...leases.held].sort()).toEqual([0, 1, 2]);
    expect(recorder.calls.filter((call) => call.startsWith('lose'))).toEqual([]);
  });

  it('renews the others, and the one itself, while it is slow to give up', async () => {
    const recorder = new Recorder();
    const leases = replica('a', 2);
    await leases.start(recorder);
    const release = recorder.hold('lose 1');
    const released = leases.release(1);
    await recorder.told('lose 1');
    expect([...leases.held]).toEqual([0]);
    await Promise.all([outlives(0), outlives(1)]);
    release();
    await released;
    expect((await (await bucket()).get('p.1'))?.operation).not.toBe('PUT');
    expect(recorder.calls).not.toContain('lose 0');
  });

  it('stops serving only what has begun, and once', async () => {
    const recorder = new Recorder();
    const leases = replica('a', 1);
    const release = recorder.hold('acquire 0');
    const starting = leases.start(recorder);
    await recorder.told('acquire 0');
    const released = [leases.release(0), leases.release(0)];
    release();
    await Promise.all(released);
    expect(recorder.calls.slice(0, 4)).toEqual(['acquire 0', 'acquired 0', 'lose 0', 'lost 0']);
    await starting;
  });

  it('makes the bucket again when somebody deleted it', async () => {
    const recorder = new Recorder();
    const problems: string[] = [];
    const leases = replica('a', 2, problems);
    await leases.start(recorder);
    await nc.request(`$JS.API.STREAM.DELETE.KV_${leaseBucket('test')}`);
    await recorder.told('acquired 0', 2);
    await recorder.told('acquired 1', 2);
    expect(problems).toContain('lease of partition 0 was lost');
    expect((await (await bucket()).get('p.0'))?.string()).toBe('a');
  });

  it('shares with a replica that joins, and takes everything back when it leaves', async () => {
    const [first, second] = [new Recorder(), new Recorder()];
    const leases = replica('a', 4);
    await leases.start(first);
    expect(leases.held.size).toBe(4);
    const joining = replica('b', 4);
    await joining.start(second);
    nc.publish('longrein.members.test', 'not JSON');
    nc.publish('longrein.members.test', 'null');
    const [one = [], other = []] = await halved(leases, joining);
    expect([...one, ...other].sort()).toEqual([0, 1, 2, 3]);
    await joining.stop();
    for (const partition of other) await first.told(`acquired ${partition}`, 2);
    expect([...leases.held].sort()).toEqual([0, 1, 2, 3]);
    expect(joining.held.size).toBe(0);
  });

  async function halved(...replicas: KvPartitionLeases[]): Promise<number[][]> {
    const watch = await (await bucket()).watch();
    for await (const _ of watch) if (replicas.every(({ held }) => held.size === 2)) break;
    return replicas.map(({ held }) => [...held]);
  }

  it('loses a lease that somebody else took, and says so', async () => {
    const recorder = new Recorder();
    const problems: string[] = [];
    await replica('a', 1, problems).start(recorder);
    await (await bucket()).put('p.0', 'b');
    await recorder.told('lost 0');
    expect(problems).toContain('lease of partition 0 was lost');
  });
});
