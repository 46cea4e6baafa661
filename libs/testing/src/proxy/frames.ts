/** One message of the NATS client protocol, in either direction. */
export interface NatsFrame {
  /** The operation in upper case: `INFO`, `MSG`, `HMSG`, `PING`, `PONG`, `+OK`, `-ERR`, `CONNECT`, `PUB`, `HPUB`, `SUB`, `UNSUB`. */
  readonly op: string;
  /** Of `MSG`, `HMSG`, `PUB`, `HPUB`, `SUB`. */
  readonly subject?: string;
  readonly reply?: string;
  /** Header block as sent, of `HMSG` and `HPUB`. */
  readonly headers?: string;
  /** Body, of `MSG`, `HMSG`, `PUB`, `HPUB`. */
  readonly payload?: Buffer;
  /** The whole frame, with its line ends. */
  readonly raw: Buffer;
}

const CRLF = Buffer.from('\r\n');

/** Cuts a byte stream of the NATS protocol into whole frames, however it arrives in pieces. */
export class FrameParser {
  private rest: Buffer = Buffer.alloc(0);

  /** Takes further bytes, gives the frames that are complete with them. */
  push(bytes: Buffer): NatsFrame[] {
    this.rest = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
    const frames: NatsFrame[] = [];
    let offset = 0;
    for (;;) {
      const frame = frameAt(this.rest, offset);
      if (!frame) break;
      frames.push(frame);
      offset += frame.raw.length;
    }
    this.rest = this.rest.subarray(offset);
    return frames;
  }

  /** Bytes of a frame that is not complete yet. */
  get pending(): number {
    return this.rest.length;
  }
}

function frameAt(bytes: Buffer, offset: number): NatsFrame | undefined {
  const lineEnd = bytes.indexOf(CRLF, offset);
  if (lineEnd < 0) return undefined;
  const words = bytes
    .toString('latin1', offset, lineEnd)
    .trim()
    .split(/[ \t]+/);
  const op = (words[0] ?? '').toUpperCase();
  const bodyStart = lineEnd + CRLF.length;
  const lengths = bodyLengths(op, words);
  if (!lengths) {
    const subject = op === 'SUB' ? { subject: words[1] ?? '' } : {};
    return { op, ...subject, raw: bytes.subarray(offset, bodyStart) };
  }
  const end = bodyStart + lengths.total + CRLF.length;
  if (bytes.length < end) return undefined;
  return {
    op,
    subject: words[1] ?? '',
    ...(lengths.reply === undefined ? {} : { reply: lengths.reply }),
    ...(lengths.headers === 0 ? {} : { headers: bytes.toString('utf8', bodyStart, bodyStart + lengths.headers) }),
    payload: bytes.subarray(bodyStart + lengths.headers, bodyStart + lengths.total),
    raw: bytes.subarray(offset, end),
  };
}

/** Words after the operation and before the sizes: subject, the subscription's id in server frames, optional reply. */
const FIXED_WORDS: Readonly<Record<string, { readonly before: number; readonly sizes: 1 | 2 }>> = {
  PUB: { before: 2, sizes: 1 },
  HPUB: { before: 2, sizes: 2 },
  MSG: { before: 3, sizes: 1 },
  HMSG: { before: 3, sizes: 2 },
};

function bodyLengths(
  op: string,
  words: readonly string[],
): { headers: number; total: number; reply: string | undefined } | undefined {
  const shape = FIXED_WORDS[op];
  if (!shape) return undefined;
  const total = Number(words.at(-1));
  const headers = shape.sizes === 2 ? Number(words.at(-2)) : 0;
  if (!Number.isSafeInteger(total) || !Number.isSafeInteger(headers) || total < headers || headers < 0) {
    throw new Error(`not a frame of the NATS protocol: ${JSON.stringify(words.join(' '))}`);
  }
  const hasReply = words.length > shape.before + shape.sizes;
  return { headers, total, reply: hasReply ? words[shape.before] : undefined };
}

/** JetStream's answer to a stored publish. */
export interface PubAck {
  readonly stream: string;
  readonly seq: number;
  readonly duplicate?: boolean;
}

/** The publish acknowledgement this frame carries, or `undefined` when it carries none (refusals are none). */
export function pubAckOf(frame: NatsFrame): PubAck | undefined {
  if ((frame.op !== 'MSG' && frame.op !== 'HMSG') || !frame.payload?.includes('"stream"')) return undefined;
  try {
    const body = JSON.parse(frame.payload.toString('utf8')) as Partial<PubAck> & { type?: unknown; error?: unknown };
    const isAck = typeof body.stream === 'string' && typeof body.seq === 'number' && body.type === undefined;
    return isAck && body.error === undefined ? (body as PubAck) : undefined;
  } catch {
    return undefined;
  }
}
