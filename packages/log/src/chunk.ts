import { LIMITS, WIRE_VERSION } from '@wts/contracts';
import type { EntryChunk, StoredEntry } from '@wts/contracts';

/**
 * A chunk on the wire is JSON in UTF-8: `{"v":2,"epoch","prev","first","last","actions":[...]}`. An action whose data is
 * its record, as of every INSERT, travels without `data`: the record is most of a chunk. The text of an action
 * is made once per process and kept beside the action, so handing a chunk to another replica, joining it with its
 * neighbors and publishing the result serialize nothing twice.
 */
const texts = new WeakMap<StoredEntry, string>();
const sizes = new WeakMap<EntryChunk, number>();

function textOf(action: StoredEntry): string {
  let text = texts.get(action);
  if (text === undefined) {
    text = JSON.stringify(action.data === action.record ? { ...action, data: undefined } : action);
    texts.set(action, text);
  }
  return text;
}

function envelope(chunk: EntryChunk, actions: string): Buffer {
  const { epoch, prev, first, last } = chunk;
  const head = JSON.stringify({ v: WIRE_VERSION, epoch, prev, first, last });
  return Buffer.from(`${head.slice(0, -1)},"actions":[${actions}]}`);
}

export function encodeChunk(chunk: EntryChunk): Uint8Array {
  const data = envelope(chunk, chunk.actions.map(textOf).join(','));
  sizes.set(chunk, data.byteLength);
  return data;
}

/**
 * The same chunk without its actions, for a message that the server would refuse as too large. It says "this is
 * committed"; who receives it reads the log.
 */
export function encodeWithoutEntries(chunk: EntryChunk): Uint8Array {
  return envelope(chunk, '');
}

/** True when the actions themselves did not travel. */
export function hasNoEntries(chunk: EntryChunk): boolean {
  return chunk.actions.length === 0;
}

/** Throws when the data is no chunk of this wire version. During a rolling upgrade the log stands in for such a chunk. */
export function decodeChunk(data: Uint8Array): EntryChunk {
  const message = JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8')) as Partial<
    EntryChunk & { v: number }
  >;
  const { v, epoch, prev, first, last, actions } = message;
  if (v !== WIRE_VERSION) throw new Error(`chunk of wire version ${String(v)}; this process speaks ${WIRE_VERSION}`);
  if (typeof epoch !== 'string' || !Array.isArray(actions)) throw new Error('not a chunk');
  if (typeof prev !== 'string' || typeof first !== 'string' || typeof last !== 'string') throw new Error('not a chunk');
  for (const action of actions as { data?: unknown; record: unknown }[]) action.data ??= action.record;
  const chunk: EntryChunk = { epoch, prev, first, last, actions };
  sizes.set(chunk, data.byteLength);
  return chunk;
}

/** Bytes of the chunk on the wire, known from when it was last encoded or decoded. */
export function chunkBytes(chunk: EntryChunk): number {
  return sizes.get(chunk) ?? encodeChunk(chunk).byteLength;
}

/** The run of log entries that follows `prev`. The entries must be all there are between `prev` and the last of them. */
export function chunkAfter(epoch: string, prev: string, actions: readonly [StoredEntry, ...StoredEntry[]]): EntryChunk {
  const last = actions.at(-1) ?? actions[0];
  return { epoch, prev, first: actions[0].syncId, last: last.syncId, actions };
}

/**
 * Splits a run of log entries into chunks of at most `bytesMax`. An entry larger than that travels alone.
 */
export function chunksAfter(
  epoch: string,
  prev: string,
  actions: readonly StoredEntry[],
  bytesMax: number = LIMITS.chunkBytesMax,
): EntryChunk[] {
  const chunks: EntryChunk[] = [];
  let run: StoredEntry[] = [];
  let bytes = 0;
  const close = (): void => {
    const [first, ...rest] = run;
    if (first !== undefined) chunks.push(chunkAfter(epoch, chunks.at(-1)?.last ?? prev, [first, ...rest]));
    run = [];
    bytes = 0;
  };
  for (const action of actions) {
    const size = Buffer.byteLength(textOf(action));
    if (bytes + size > bytesMax) close();
    run.push(action);
    bytes += size;
  }
  close();
  return chunks;
}

/** The place of a chunk in the log and in the stream: its `Nats-Msg-Id`. */
export function messageIdOf(chunk: EntryChunk): string {
  return `${chunk.epoch}:${chunk.first}-${chunk.last}`;
}

const MESSAGE_ID = /^(.+):(\d{1,19})-(\d{1,19})$/;

/** Null when the text names no chunk. */
export function parseMessageId(text: string): { epoch: string; first: bigint; last: bigint } | null {
  const [, epoch, first, last] = MESSAGE_ID.exec(text) ?? [];
  if (epoch === undefined || first === undefined || last === undefined) return null;
  return { epoch, first: BigInt(first), last: BigInt(last) };
}
