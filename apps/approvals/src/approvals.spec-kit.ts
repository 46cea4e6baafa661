import { MemoryLog, type MemoryLogOptions } from '@longrein/log/memory';
import { Approvals } from './approvals.js';

/** A log in memory with one session on it, the loop's part played by the test. */
export async function parkedSession(options: Pick<MemoryLogOptions, 'schedule'> = {}) {
  const log = new MemoryLog({ partitions: 1, ...options });
  const loop = log.as('loop');
  const id = 's';
  await log.as('gateway').create(id);
  const append = async (type: string, payload: object, service: 'loop' | 'gateway' = 'loop'): Promise<number> =>
    (await log.as(service).append(id, { events: [{ type, payload }], since: -1 })).seq;
  let turns = 0;
  return {
    id,
    log,
    append,
    approvals: () => new Approvals(log.as('approvals')),
    events: async () => (await loop.read(id, { from_seq: 0 })).events,
    verdicts: async () =>
      (await loop.read(id, { from_seq: 0 })).events
        .filter(({ type }) => type === 'approval/resolved')
        .map(({ payload }) => payload as Record<string, unknown>),
    startTurn: () => append('turn/start', { turn_id: `t${++turns}`, agent: id, epoch: 0 }),
    endTurn: () => append('turn/end', { turn_id: `t${turns}`, status: 'completed' }),
    cancel: () => append('turn/cancel_requested', { turn_id: `t${turns}` }, 'gateway'),
    /** Logs a call and the request for it; resolves to the request's seq. */
    ask: async (call_id: string, name = 'deploy', args: unknown = { to: 'production' }) => {
      const call_seq = await append('tool/call', { id: call_id, name, args });
      return append('approval/requested', { call_id, call_seq, name, args });
    },
  };
}
