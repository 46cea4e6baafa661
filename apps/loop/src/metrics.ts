import { Gauge, type Registry } from 'prom-client';

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
