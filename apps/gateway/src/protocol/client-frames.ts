import { modelRole } from '@longrein/events';
import { z } from 'zod';

/** Largest frame a client may send, in bytes. */
export const MAX_FRAME_BYTES = 1024 * 1024;

const text = z.string().refine((value) => value.isWellFormed(), 'must be well-formed Unicode');
const callId = text.min(1).max(256);
/** Seq of the request that is meant, where a call id was asked about more than once. */
const requestSeq = z.int().nonnegative().optional();
const reason = text.max(4096).optional();
const patterns = z.array(text.max(256)).max(128);

/** The frames a client may send: a closed set. Fields it does not know are ignored, so that clients may be newer. */
export const clientFrame = z.discriminatedUnion('type', [
  z.object({ type: z.literal('subscribe'), from_seq: z.int().nonnegative() }),
  z.object({
    type: z.literal('inject'),
    text,
    wake: z.boolean().default(false),
    /** Makes a retry the same input. */
    input_id: text.min(1).max(256).optional(),
  }),
  z.object({ type: z.literal('cancel'), reason }),
  z.object({ type: z.literal('approve'), call_id: callId, request_seq: requestSeq }),
  z.object({ type: z.literal('deny'), call_id: callId, request_seq: requestSeq, reason }),
  z.object({
    type: z.literal('set_model'),
    role: modelRole,
    model: text.max(256).regex(/^[A-Za-z0-9_-]+\/\S+$/, 'must be provider/model'),
  }),
  z.object({ type: z.literal('set_policy'), patterns }),
]);

export type ClientFrame = z.infer<typeof clientFrame>;

/** A frame that could not be understood; its message says why. */
export interface BadFrame {
  readonly problem: string;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads what a client sent. Nothing a client can send throws. */
export function parseClientFrame(data: Buffer, isBinary: boolean): ClientFrame | BadFrame {
  if (isBinary) return { problem: 'frames are JSON text, not binary' };
  if (data.length > MAX_FRAME_BYTES) {
    return { problem: `the frame has ${data.length} bytes; at most ${MAX_FRAME_BYTES} are taken` };
  }
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(data));
  } catch (error) {
    return { problem: error instanceof SyntaxError ? 'the frame is not JSON' : 'the frame is not valid UTF-8' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { problem: 'the frame is not a JSON object' };
  }
  const parsed = clientFrame.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const { type } = value as { type?: unknown };
  const where = issue?.path.join('.') || 'type';
  return { problem: `${describe(type)}: ${where}: ${issue?.message ?? 'not understood'}` };
}

/** Whether a parse result is a refusal. */
export function isBadFrame(frame: ClientFrame | BadFrame): frame is BadFrame {
  return 'problem' in frame;
}

function describe(type: unknown): string {
  return typeof type === 'string' ? `frame ${JSON.stringify(type.slice(0, 40))}` : 'frame without a type';
}
