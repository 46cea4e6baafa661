import { headers, type MsgHdrs } from '@nats-io/transport-node';

/** Header of the W3C trace context. */
export const TRACEPARENT = 'traceparent';

/** Headers that pass the caller's trace on, or none when there is no trace. */
export function traceHeaders(traceparent: string | undefined): MsgHdrs | undefined {
  if (!traceparent) return undefined;
  const result = headers();
  result.set(TRACEPARENT, traceparent);
  return result;
}
