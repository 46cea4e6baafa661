import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type TestNats, startTestNats } from '@longrein/testing';
import { type KV, Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/nats-core';
import { KvPartitionLeases } from './kv-leases.js';
import type { LeaseHandlers } from '../port/index.js';
import { leaseBucket, leaseReleaseSubject } from './names.js';

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

  function replica(
    name: string,
    partitions: number,
    problems: string[] = [],
    connection: NatsConnection = nc,
  ): KvPartitionLeases {
    const onProblem = (problem: string): unknown => problems.push(problem);
    const leases = new KvPartitionLeases(connection, {
      scope: 'test',
      replica: name,
      partitions,
      ttl_ms: TTL,
      onProblem,
    });
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

  /** Everything that replicas are told, in one order. */
  class Diary {
    readonly entries: { readonly replica: string; readonly call: string; readonly partition: number }[] = [];
    #waiting: { readonly met: () => boolean; readonly resolve: () => void }[] = [];

    handlers(replica: string): LeaseHandlers {
      const note = (call: string) => (partition: number) => {
        this.entries.push({ replica, call, partition });
        this.#waiting = this.#waiting.filter(({ met, resolve }) => !met() || resolve());
        return Promise.resolve();
      };
      return { acquired: note('acquired'), lost: note('lost') };
    }

    until(met: () => boolean): Promise<void> {
      return new Promise((resolve) => (met() ? resolve() : this.#waiting.push({ met, resolve })));
    }

    /** Owner by partition, as the diary has it. */
    get owners(): ReadonlyMap<number, string> {
      const owners = new Map<number, string>();
      for (const { replica, call, partition } of this.entries) {
        if (call === 'acquired') owners.set(partition, replica);
        else if (owners.get(partition) === replica) owners.delete(partition);
      }
      return owners;
    }

    sizes(...replicas: string[]): number[] {
      const owners = [...this.owners.values()];
      return replicas.map((name) => owners.filter((owner) => owner === name).length);
    }
  }

  /** What was given up is taken before anything else is given up. */
  function oneAtATime(moves: Diary['entries']): void {
    let underWay: number | undefined;
    for (const { call, partition } of moves) {
      if (call === 'lost') expect(underWay).toBeUndefined();
      else expect(partition).toBe(underWay);
      underWay = call === 'lost' ? partition : undefined;
    }
    expect(moves.length).toBeGreaterThan(0);
  }

  it('moves one partition at a time when it is scaled from one replica to three', async () => {
    const diary = new Diary();
    await replica('a', 9).start(diary.handlers('a'));
    expect(diary.sizes('a')).toEqual([9]);
    const before = diary.entries.length;
    await Promise.all(['b', 'c'].map((name) => replica(name, 9).start(diary.handlers(name))));
    await diary.until(() => diary.sizes('a', 'b', 'c').every((size) => size === 3));
    oneAtATime(diary.entries.slice(before));
  });

  it('moves one at a time also where several have too many', async () => {
    const diary = new Diary();
    for (const name of ['a', 'b']) await replica(name, 8).start(diary.handlers(name));
    await diary.until(() => diary.sizes('a', 'b').every((size) => size === 4));
    const before = diary.entries.length;
    for (const name of ['c', 'd']) await replica(name, 8).start(diary.handlers(name));
    await diary.until(() => diary.sizes('a', 'b', 'c', 'd').every((size) => size === 2));
    oneAtATime(diary.entries.slice(before));
  });

  it('gives the partitions of a replica that died to the others within a lease and a third', async () => {
    const diary = new Diary();
    const mortal = await nats.connect();
    const victim = replica('v', 6, [], mortal);
    await victim.start(diary.handlers('v'));
    for (const name of ['b', 'c']) await replica(name, 6).start(diary.handlers(name));
    await diary.until(() => diary.sizes('v', 'b', 'c').every((size) => size === 2));
    const died = performance.now();
    await mortal.close();
    await diary.until(() => diary.sizes('b', 'c').every((size) => size === 3));
    // Expiry, the next look, and what a busy machine adds.
    expect(performance.now() - died).toBeLessThan(TTL + TTL / 3 + 1_500);
  });

  it('gives the partitions of a replica that stops to the others at once, not when its leases expire', async () => {
    const diary = new Diary();
    const leaving = new KvPartitionLeases(nc, { scope: 'slow', replica: 'l', partitions: 6, ttl_ms: 60_000 });
    const staying = new KvPartitionLeases(nc, { scope: 'slow', replica: 's', partitions: 6, ttl_ms: 60_000 });
    started.push(staying);
    await leaving.start(diary.handlers('l'));
    await staying.start(diary.handlers('s'));
    expect(diary.sizes('l', 's')).toEqual([6, 0]);
    await leaving.stop();
    await diary.until(() => diary.sizes('s')[0] === 6);
  });

  it('gives a partition up when an operator asks for it, whoever holds it, and nobody answers for another', async () => {
    const diary = new Diary();
    for (const name of ['a', 'b']) await replica(name, 4).start(diary.handlers(name));
    await diary.until(() => diary.sizes('a', 'b').every((size) => size === 2));
    const [partition, owner] = [...diary.owners].find(([, name]) => name === 'b')!;
    const ask = (body: string, timeout = 5_000) => nc.request(leaseReleaseSubject('test'), body, { timeout });
    expect((await ask(JSON.stringify({ partition }))).json()).toEqual({ partition, replica: owner });
    expect(diary.entries).toContainEqual({ replica: 'b', call: 'lost', partition });
    await diary.until(() => diary.owners.has(partition));
    for (const body of ['not JSON', 'null', '{"partition":4}', '{"partition":"0"}']) {
      await expect(ask(body, 100)).rejects.toThrow(/timeout/i);
    }
  });
});
