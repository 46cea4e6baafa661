import { Counter, Gauge, type Registry } from 'prom-client';

/** What a loop is doing now. */
export interface Load {
  readonly partitions: number;
  readonly active: number;
  readonly in_work: number;
}

/** Shows the loop's load among the service's metrics, read when they are asked for. */
export function observeLoad(registry: Registry, load: () => Load): void {
  const gauge = (name: string, help: string, value: (load: Load) => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(value(load()));
      },
    });
  };
  gauge('longrein_loop_partitions', 'Partitions this replica owns.', ({ partitions }) => partitions);
  gauge('longrein_loop_sessions_active', 'Sessions with an actor in memory.', ({ active }) => active);
  gauge(
    'longrein_loop_sessions_in_work',
    'Sessions with an open turn or an unconsumed input.',
    ({ in_work }) => in_work,
  );
}

/** Counts requests to hooks that brought no answer; call it with the hook's name. */
export function countHookFailures(registry: Registry): (hook: string) => void {
  const counter = new Counter({
    name: 'longrein_loop_hook_failures_total',
    help: 'Requests to hooks without an answer that can be used.',
    labelNames: ['hook'],
    registers: [registry],
  });
  return (hook) => counter.inc({ hook });
}
