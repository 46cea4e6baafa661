import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parkedSession } from './approvals.spec-kit.js';

const approve = (call_id: string, more: object = {}) =>
  ({ session_id: 's', call_id, verdict: 'approved', ...more }) as const;
const deny = (call_id: string, more: object = {}) =>
  ({ session_id: 's', call_id, verdict: 'denied', ...more }) as const;
const stale = { code: 'stale_call' };

describe('resolve', () => {
  it('WSP-29 appends the verdict of a standing request, its reason and author only when given', async () => {
    const session = await parkedSession();
    await session.startTurn();
    const [first, second] = [await session.ask('c1'), await session.ask('c2')];
    const approvals = session.approvals();
    await expect(approvals.resolve(approve('c1'))).resolves.toMatchObject({ call_id: 'c1', request_seq: first });
    await approvals.resolve(deny('c2', { reason: 'not today', by: 'ops' }));
    expect(await session.verdicts()).toEqual([
      { call_id: 'c1', request_seq: first, verdict: 'approved' },
      { call_id: 'c2', request_seq: second, verdict: 'denied', reason: 'not today', by: 'ops' },
    ]);
  });

  it('WSP-31 refuses as stale what was never asked, is decided, or belongs to a closed turn; nothing is appended', async () => {
    const session = await parkedSession();
    const approvals = session.approvals();
    await expect(approvals.resolve(approve('c1'))).rejects.toMatchObject(stale);
    await session.startTurn();
    await expect(approvals.resolve(approve('c1'))).rejects.toMatchObject(stale);
    await session.ask('c1');
    await approvals.resolve(deny('c1'));
    await expect(approvals.resolve(approve('c1'))).rejects.toThrow(/denied at seq/);
    await session.ask('open');
    await session.endTurn();
    await expect(approvals.resolve(approve('open'))).rejects.toThrow(/no turn is open/);
    await session.startTurn();
    await expect(approvals.resolve(approve('open'))).rejects.toMatchObject(stale);
    expect(await session.verdicts()).toHaveLength(1);
  });

  it('refuses a verdict on a session that does not exist', async () => {
    const session = await parkedSession();
    const verdict = { ...approve('c'), session_id: 'nobody' };
    await expect(session.approvals().resolve(verdict)).rejects.toMatchObject({ code: 'unknown_session' });
  });

  it('binds a verdict to the request it names: a button of an earlier turn decides nothing in a later one', async () => {
    const session = await parkedSession();
    await session.startTurn();
    const old = await session.ask('c1');
    await session.endTurn();
    await session.startTurn();
    const now = await session.ask('c1', 'drop_database');
    const approvals = session.approvals();
    await expect(approvals.resolve(approve('c1', { request_seq: old }))).rejects.toMatchObject(stale);
    await expect(approvals.resolve(approve('c2', { request_seq: now }))).rejects.toMatchObject(stale);
    await approvals.resolve(approve('c1', { request_seq: now }));
    expect(await session.verdicts()).toMatchObject([{ request_seq: now }]);
  });

  it('takes no verdict once a cancel stands: what it denies is not approved', async () => {
    const session = await parkedSession();
    await session.startTurn();
    await session.ask('c1');
    await session.cancel();
    await expect(session.approvals().resolve(approve('c1'))).rejects.toThrow(/cancelled/);
    expect(await session.verdicts()).toEqual([]);
  });

  it('APR-24 frees requests of one call id oldest first, each by a verdict of its own', async () => {
    const session = await parkedSession();
    await session.startTurn();
    const [first, second] = [await session.ask('same'), await session.ask('same')];
    const approvals = session.approvals();
    // At once, from two replicas: neither verdict is lost, though they say the same.
    await Promise.all([approvals.resolve(approve('same')), session.approvals().resolve(approve('same'))]);
    expect(await session.verdicts()).toMatchObject([{ request_seq: first }, { request_seq: second }]);
    await expect(approvals.resolve(approve('same'))).rejects.toMatchObject(stale);
  });

  it('APR-24 frees the named one of two requests with one call id', async () => {
    const session = await parkedSession();
    await session.startTurn();
    await session.ask('same');
    const second = await session.ask('same');
    await session.approvals().resolve(deny('same', { request_seq: second }));
    expect(await session.verdicts()).toMatchObject([{ request_seq: second, verdict: 'denied' }]);
  });

  it('a repeated verdict on the same request is the same append, from any replica and after an answer that was lost', async () => {
    const session = await parkedSession();
    await session.startTurn();
    const request_seq = await session.ask('c1');
    const verdict = deny('c1', { request_seq, reason: 'no', by: 'ops' });
    session.log.faults.failNextAppend({ at: 'after' });
    await expect(session.approvals().resolve(verdict)).rejects.toMatchObject({ code: 'unavailable' });
    const again = await session.approvals().resolve(verdict);
    expect(await session.approvals().resolve(verdict)).toEqual(again);
    expect(again.seq).toBe((await session.events()).at(-1)!.seq);
    expect(await session.verdicts()).toHaveLength(1);
    await expect(session.approvals().resolve(approve('c1', { request_seq }))).rejects.toMatchObject(stale);
  });

  it('takes exactly one of two verdicts that race, whichever order the log takes them in', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        let racing = false;
        const session = await parkedSession({
          schedule: (step, { service }) =>
            racing ? scheduler.schedule(Promise.resolve(), `${service} ${step}`) : Promise.resolve(),
        });
        await session.startTurn();
        const request_seq = await session.ask('c1');
        racing = true;
        const verdicts = [approve('c1', { by: 'one' }), deny('c1', { by: 'two' }), deny('c1', { request_seq })];
        const racers = Promise.allSettled(verdicts.map((verdict) => session.approvals().resolve(verdict)));
        await scheduler.waitFor(racers);
        const outcomes = await racers;
        racing = false;
        const accepted = outcomes.filter(({ status }) => status === 'fulfilled');
        const refused = outcomes.flatMap((outcome) =>
          outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
        );
        expect(accepted).toHaveLength(1);
        for (const reason of refused) expect(reason).toMatchObject(stale);
        const stored = await session.verdicts();
        expect(stored).toHaveLength(1);
        expect(accepted).toMatchObject([{ value: { verdict: stored[0]!['verdict'] } }]);
      }),
      { numRuns: 60 },
    );
  });

  it('never lets a verdict land on a turn that a cancel or its end reached first', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.constantFrom('cancel', 'endTurn'), async (scheduler, what) => {
        let racing = false;
        const session = await parkedSession({
          schedule: (step, { service }) =>
            racing ? scheduler.schedule(Promise.resolve(), `${service} ${step}`) : Promise.resolve(),
        });
        await session.startTurn();
        await session.ask('c1');
        racing = true;
        const approvals = session.approvals();
        const race = Promise.allSettled([approvals.resolve(approve('c1')), session[what as 'cancel' | 'endTurn']()]);
        await scheduler.waitFor(race);
        const [verdict] = await race;
        racing = false;
        const types = (await session.events()).map(({ type }) => type);
        const [at, limit] = [
          types.indexOf('approval/resolved'),
          types.indexOf(what === 'cancel' ? 'turn/cancel_requested' : 'turn/end'),
        ];
        if (verdict.status === 'fulfilled') expect(at).toBeLessThan(limit);
        else expect(at).toBe(-1);
      }),
      { numRuns: 60 },
    );
  });
});

describe('pending', () => {
  const ids = async (session: Awaited<ReturnType<typeof parkedSession>>): Promise<string[]> =>
    (await session.approvals().pending('s')).pending.map(({ call_id }) => call_id);

  it('APR-09 lists only what has no verdict, from the log and not from memory', async () => {
    const session = await parkedSession();
    await session.startTurn();
    const request_seq = await session.ask('c1', 'deploy', { to: 'x' });
    await session.ask('c2');
    await session.approvals().resolve(approve('c2'));
    expect(await session.approvals().pending('s')).toEqual({
      session_id: 's',
      turn_id: 't1',
      pending: [{ request_seq, call_id: 'c1', call_seq: request_seq - 1, name: 'deploy', args: { to: 'x' } }],
    });
  });

  it('APR-10, APR-11 lists nothing of a closed turn', async () => {
    const session = await parkedSession();
    await session.startTurn();
    await session.ask('c1');
    await session.endTurn();
    expect(await ids(session)).toEqual([]);
    await session.startTurn();
    await session.ask('c2');
    expect(await ids(session)).toEqual(['c2']);
  });

  it('APR-15 does not count a verdict that precedes its request', async () => {
    const session = await parkedSession();
    await session.startTurn();
    await session.ask('c1');
    await session.append('approval/resolved', { call_id: 'c1', request_seq: 9, verdict: 'approved' });
    expect(await ids(session)).toEqual(['c1']);
  });
});
