import { type Clock, systemClock } from '@longrein/clock';
import type { EventEnvelope } from '@longrein/events';
import { CliError, EXIT, causeOf } from '../errors.js';
import type { Settings } from '../settings.js';
import { GatewayClient, unauthorized } from './gateway-client.js';
import { type Frame, WatchSocket } from './watch-socket.js';

/** What to tail. */
export interface TailOptions {
  readonly id: string;
  /** First seq wanted. */
  readonly from: number;
  /** Ends the tail. */
  readonly signal: AbortSignal;
  /** Told about what is survived: lost connections. */
  readonly onNote?: (note: string) => void;
  readonly clock?: Clock;
  /** Factor on each wait before reconnecting, 0.5 to 1. */
  readonly jitter?: () => number;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
const PAGE = 1_000;

/**
 * A session's events from a seq on, without gap or duplicate, over as many connections as it takes. Fails when the
 * first connection cannot be made, and when the gateway refuses for good; later losses are waited out.
 */
export async function* tail(settings: Settings, options: TailOptions): AsyncGenerator<EventEnvelope, void, void> {
  const { id, signal, clock = systemClock, jitter = () => 0.5 + Math.random() / 2 } = options;
  const client = new GatewayClient(settings);
  // Says so if the session does not exist, or the token is not good for it.
  await client.events(id, 0, 1);
  let next = options.from;
  let wait = FIRST_WAIT_MS;
  while (!signal.aborted) {
    const socket = new WatchSocket(settings, id, signal, clock);
    let failure: Error | undefined;
    try {
      for (let frame = await socket.next(); frame && !signal.aborted; frame = await socket.next()) {
        if (frame.type === 'hello') {
          socket.send({ type: 'subscribe', from_seq: next });
          wait = FIRST_WAIT_MS;
        } else if (frame.type === 'replay_truncated') {
          // Older than a subscription replays: read page by page instead.
          for await (const event of pages(client, id, next, frame['from_seq'] as number)) {
            next = event.seq + 1;
            yield event;
          }
        } else if (frame.type === 'error' && frame['seq'] === undefined) {
          judge(frame, settings);
        } else if (isEvent(frame) && frame.seq >= next) {
          next = frame.seq + 1;
          yield frame;
        }
      }
      failure = socket.failure;
    } catch (error) {
      failure = error as Error;
      if (!(failure instanceof CliError)) throw failure;
    } finally {
      socket.close();
    }
    if (signal.aborted) return;
    if (failure instanceof CliError && failure.exitCode !== EXIT.unreachable) throw failure;
    const why = failure ? ` (${causeOf(failure)})` : '';
    options.onNote?.(`lost the connection to ${settings.url}${why}; going on from seq ${next} when it is back`);
    await clock.sleep(wait * jitter(), signal).catch(() => undefined);
    wait = Math.min(LONGEST_WAIT_MS, wait * 2);
  }
}

/** Throws for errors that trying again would not change; the others come with the end of the connection. */
function judge({ code, message }: Frame, settings: Settings): void {
  if (code === 'unauthorized') throw unauthorized(settings, String(message));
  if (code === 'bad_frame' || code === 'unsupported')
    throw new CliError(`the gateway says ${String(code)}: ${String(message)}`);
}

function isEvent(frame: Frame): frame is Frame & EventEnvelope {
  return typeof frame['seq'] === 'number';
}

async function* pages(
  client: GatewayClient,
  id: string,
  from: number,
  below: number,
): AsyncGenerator<EventEnvelope, void, void> {
  for (let next: number | null = from; next !== null && next < below;) {
    const page: Awaited<ReturnType<GatewayClient['events']>> = await client.events(
      id,
      next,
      Math.min(PAGE, below - next),
    );
    yield* page.events.filter(({ seq }) => seq < below);
    next = page.next_seq;
  }
}
