import { createHash, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { JetStreamApiError } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/nats-core';
import { assertStorable } from '../core/storable.js';
import { StreamApi } from '../jetstream/stream-api.js';
import type { DocumentStore } from '../port/index.js';

/** Bucket of the services' checkpoints and snapshots. */
export const DOCUMENTS_BUCKET = 'LONGREIN_DOCUMENTS';

/** How the bucket is made, where it does not exist. */
export interface DocumentStoreOptions {
  readonly bucket?: string;
  /** Copies of the bucket: 1 in development, 3 in production. */
  readonly replicas?: number;
  /** Bytes, compressed, above which a document is stored in pieces of this size. */
  readonly chunk_bytes?: number;
}

/** Where the pieces of a large document are. */
interface Manifest {
  readonly id: string;
  readonly chunks: number;
  readonly sha256: string;
}

type Stored = { readonly revision: number; readonly inline?: Uint8Array; readonly manifest?: Manifest };

const DEFAULT_CHUNK_BYTES = 256 * 1024;
const ATTEMPTS = 10;
/** Pieces whose document was never completed are removed after this time. */
const ORPHAN_MS = 3_600_000;
const WRONG_LAST_SEQUENCE: ReadonlySet<number> = new Set([10071, 10164]);
const GZIP_MAGIC = 0x1f;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/**
 * Documents in a KV bucket, compressed. A document that is still large is written as pieces under keys of its own, then
 * made current by one small entry; that entry replaces exactly one predecessor, whose pieces are removed. A reader
 * therefore gets one save or another, whole. Reads go to the bucket's leader: a process sees its own last save.
 */
export class KvDocumentStore implements DocumentStore {
  readonly #kv: KV;
  readonly #api: StreamApi;
  readonly #bucket: string;
  readonly #chunkBytes: number;

  private constructor(kv: KV, api: StreamApi, bucket: string, chunkBytes: number) {
    this.#kv = kv;
    this.#api = api;
    this.#bucket = bucket;
    this.#chunkBytes = chunkBytes;
  }

  /** Opens the bucket, making it where there is none. */
  static async open(nc: NatsConnection, options: DocumentStoreOptions = {}): Promise<KvDocumentStore> {
    const { bucket = DOCUMENTS_BUCKET, replicas = 1, chunk_bytes = DEFAULT_CHUNK_BYTES } = options;
    const kv = await new Kvm(nc).create(bucket, { replicas, history: 1, allow_direct: false });
    return new KvDocumentStore(kv, new StreamApi(nc), bucket, chunk_bytes);
  }

  /** The document, or undefined when there is none that is whole. */
  async load(name: string): Promise<unknown> {
    const key = keyOf(name);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const stored = await this.#get(key);
      if (!stored) return undefined;
      const packed = stored.inline ?? (stored.manifest && (await this.#assemble(key, stored.manifest)));
      if (packed) return JSON.parse((await decompress(packed)).toString());
      // A piece is gone: another save has replaced this one meanwhile, or else the document is lost.
      if ((await this.#get(key))?.revision === stored.revision) return undefined;
    }
    return undefined;
  }

  /** Replaces the document. Throws `invalid_event` for what JSON would change. */
  async save(name: string, document: unknown): Promise<void> {
    assertStorable(document, name);
    const key = keyOf(name);
    const packed = await compress(JSON.stringify(document));
    const value = packed.length <= this.#chunkBytes ? packed : await this.#writeChunks(key, packed);
    for (let attempt = 1; ; attempt++) {
      const previous = await this.#get(key);
      try {
        if (previous) await this.#kv.update(key, value, previous.revision);
        else await this.#kv.create(key, value);
      } catch (error) {
        // Another save came first; the later one counts.
        if (attempt < ATTEMPTS && isOvertaken(error)) continue;
        throw error;
      }
      if (previous?.manifest) await this.#purge(`${key}.${previous.manifest.id}.>`);
      if (value !== packed) await this.#removeOrphans(key);
      return;
    }
  }

  async delete(name: string): Promise<void> {
    const key = keyOf(name);
    await this.#purge(key);
    await this.#purge(`${key}.>`);
  }

  async #get(key: string): Promise<Stored | undefined> {
    const entry = await this.#kv.get(key);
    if (!entry || entry.operation !== 'PUT') return undefined;
    const { value, revision } = entry;
    return value[0] === GZIP_MAGIC ? { revision, inline: value } : { revision, manifest: entry.json<Manifest>() };
  }

  async #writeChunks(key: string, packed: Buffer): Promise<string> {
    const id = `${Date.now().toString(36)}-${randomBytes(6).toString('hex')}`;
    let chunks = 0;
    for (let at = 0; at < packed.length; at += this.#chunkBytes) {
      await this.#kv.put(`${key}.${id}.${chunks++}`, packed.subarray(at, at + this.#chunkBytes));
    }
    return JSON.stringify({ id, chunks, sha256: sha256(packed) } satisfies Manifest);
  }

  async #assemble(key: string, { id, chunks, sha256: expected }: Manifest): Promise<Buffer | undefined> {
    const parts: Uint8Array[] = [];
    for (let i = 0; i < chunks; i++) {
      const entry = await this.#kv.get(`${key}.${id}.${i}`);
      if (!entry) return undefined;
      parts.push(entry.value);
    }
    const packed = Buffer.concat(parts);
    return sha256(packed) === expected ? packed : undefined;
  }

  /** Removes what a save left behind that died before its last step. */
  async #removeOrphans(key: string): Promise<void> {
    const prefix = this.#subject(`${key}.`);
    const info = await this.#api.request<{ state: { subjects?: Record<string, number> } }>(
      `STREAM.INFO.KV_${this.#bucket}`,
      {
        subjects_filter: `${prefix}>`,
      },
    );
    const ids = new Set(
      Object.keys(info.state.subjects ?? {}).map((subject) => subject.slice(prefix.length).split('.')[0]!),
    );
    const current = (await this.#get(key))?.manifest?.id;
    for (const id of ids) {
      const age = Date.now() - parseInt(id.split('-')[0]!, 36);
      if (id !== current && age > ORPHAN_MS) await this.#purge(`${key}.${id}.>`);
    }
  }

  /** Removes without leaving markers, which would add up: every large save has keys of its own. */
  async #purge(key: string): Promise<void> {
    await this.#api.request(`STREAM.PURGE.KV_${this.#bucket}`, { filter: this.#subject(key) });
  }

  #subject(key: string): string {
    return `$KV.${this.#bucket}.${key}`;
  }
}

/** Any name as one token of a key: what a token cannot hold is written as `=` and its bytes in hex. */
function keyOf(name: string): string {
  if (name === '') throw new RangeError('a document needs a name');
  return name.replace(/[^A-Za-z0-9_-]+/gu, (part) => `=${Buffer.from(part).toString('hex')}=`);
}

function isOvertaken(error: unknown): boolean {
  return error instanceof JetStreamApiError && WRONG_LAST_SEQUENCE.has(error.code);
}

function sha256(data: Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
