import type { StreamLevel } from '@longrein/log/jetstream';
import { Gauge, type Registry } from 'prom-client';

/** What a log replica shows of itself. */
export interface LogState {
  readonly partitions: number;
  /** Streams of its partitions, as of the last look at them. */
  readonly levels: readonly StreamLevel[];
}

/** Shows a log replica's state among the service's metrics, read from memory when they are asked for. */
export function observeLog(registry: Registry, state: () => LogState): void {
  new Gauge({
    name: 'longrein_log_partitions',
    help: 'Partitions this replica owns.',
    registers: [registry],
    collect() {
      this.set(state().partitions);
    },
  });
  const perStream = (name: string, help: string, value: (level: StreamLevel) => number | undefined): void => {
    new Gauge({
      name,
      help,
      labelNames: ['stream'],
      registers: [registry],
      collect() {
        this.reset();
        for (const level of state().levels) {
          const shown = value(level);
          if (shown !== undefined) this.set({ stream: level.stream }, shown);
        }
      },
    });
  };
  perStream('longrein_log_stream_bytes', 'Bytes in a stream of this replica’s partitions.', ({ bytes }) => bytes);
  perStream('longrein_log_stream_max_bytes', 'Byte limit of such a stream.', ({ max_bytes }) => max_bytes);
  perStream(
    'longrein_log_stream_fill_ratio',
    'Part of its byte limit that such a stream has used; at 1 appends are refused as storage_full.',
    ({ bytes, max_bytes }) => max_bytes && bytes / max_bytes,
  );
}
