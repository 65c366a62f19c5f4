import { WIRE_VERSION, WIRE_VERSION_BEFORE, type EntryChunk, type StoredEntry } from '@wts/contracts';
import { jsonTextOf } from '../json-text.ts';
import type { Msg } from 'nats';
import { STREAM_LIMITS } from './limits.ts';

/** Of W3C Trace Context. */
export const TRACE_HEADER = 'traceparent';

/**
 * A chunk on the wire is JSON in UTF-8: `{"v":4,"shard","epoch","prev","first","last","actions":[...]}`. An entry whose data is
 * its record, as of every INSERT, is sent without `data`: the record is most of a chunk. The text of an entry is made once
 * per process and cached, so handing a chunk to another replica, joining chunks and publishing them serialize no entry twice.
 */
const texts = new WeakMap<StoredEntry, string>();
const sizes = new WeakMap<EntryChunk, number>();

function textOf(entry: StoredEntry): string {
  let text = texts.get(entry);
  if (text === undefined) {
    const { data, record, ...header } = entry;
    const dataText = data === record ? '' : `,"data":${jsonTextOf(data)}`;
    text = `${JSON.stringify(header).slice(0, -1)}${dataText},"record":${jsonTextOf(record)}}`;
    texts.set(entry, text);
  }
  return text;
}

function envelope(chunk: EntryChunk, actions: string, shard: number): Buffer {
  const { epoch, prev, first, last } = chunk;
  const head = JSON.stringify({ v: WIRE_VERSION, shard, epoch, prev, first, last });
  return Buffer.from(`${head.slice(0, -1)},"actions":[${actions}]}`);
}

export function encodeChunk(chunk: EntryChunk, shard = 0): Uint8Array {
  const data = envelope(chunk, chunk.actions.map(textOf).join(','), shard);
  sizes.set(chunk, data.byteLength);
  return data;
}

/** The chunk without its entries, where the server would refuse the message as too large. Its receiver reads the log. */
export function encodeWithoutEntries(chunk: EntryChunk, shard = 0): Uint8Array {
  return envelope(chunk, '', shard);
}

/** True when the chunk was sent without its entries. */
export function hasNoEntries(chunk: EntryChunk): boolean {
  return chunk.actions.length === 0;
}

/** The `traceparent` of a commit, by its first entry: chunks are joined and divided, and their entries stay. */
const traces = new WeakMap<StoredEntry, string>();
let hasTraces = false;

/** The entries of this chunk were committed by a recorded trace. It travels beside the chunk, as a header of its message. */
export function setTrace({ actions: [first] }: EntryChunk, traceparent: string): void {
  if (first === undefined) return;
  traces.set(first, traceparent);
  hasTraces = true;
}

/** Of the recorded traces that committed entries of this chunk, the first; undefined when none did. */
export function traceOf({ actions }: EntryChunk): string | undefined {
  if (!hasTraces) return undefined;
  for (const entry of actions) {
    const trace = traces.get(entry);
    if (trace !== undefined) return trace;
  }
  return undefined;
}

/** The chunk of a message, with its trace. */
export function chunkOfMessage({ data, headers }: Pick<Msg, 'data' | 'headers'>, shard = 0): EntryChunk {
  const chunk = decodeChunk(data, shard);
  const trace = headers?.get(TRACE_HEADER);
  if (trace !== undefined && trace !== '') setTrace(chunk, trace);
  return chunk;
}

/**
 * Throws when the data is no chunk of this wire version or of the one before, or one of another log. A receiver then reads the log
 * instead, as a process of the version before does during a rolling upgrade.
 */
export function decodeChunk(data: Uint8Array, shard = 0): EntryChunk {
  const message = JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8')) as Partial<
    EntryChunk & { v: number; shard: number }
  >;
  const { v, epoch, prev, first, last, actions } = message;
  if (v !== WIRE_VERSION && v !== WIRE_VERSION_BEFORE)
    throw new Error(`chunk of wire version ${String(v)}; this process reads ${WIRE_VERSION}`);
  const of = v === WIRE_VERSION_BEFORE ? 0 : message.shard;
  if (of !== shard) throw new Error(`chunk of log ${String(of)}; this process reads log ${shard}`);
  if (typeof epoch !== 'string' || !Array.isArray(actions)) throw new Error('not a chunk');
  if (typeof prev !== 'string' || typeof first !== 'string' || typeof last !== 'string') throw new Error('not a chunk');
  for (const entry of actions as { data?: unknown; record: unknown }[]) entry.data ??= entry.record;
  const chunk: EntryChunk = { epoch, prev, first, last, actions };
  sizes.set(chunk, data.byteLength);
  return chunk;
}

/** Bytes of the chunk on the wire: exact when it was encoded or decoded, else without what is around the entries. */
export function chunkBytes(chunk: EntryChunk): number {
  let bytes = sizes.get(chunk);
  if (bytes === undefined) {
    bytes = chunk.actions.reduce((sum, entry) => sum + Buffer.byteLength(textOf(entry)) + 1, 0);
    sizes.set(chunk, bytes);
  }
  return bytes;
}

/** The run of log entries that follows `prev`. The entries must be all there are between `prev` and the last of them. */
export function chunkAfter(epoch: string, prev: string, entries: readonly [StoredEntry, ...StoredEntry[]]): EntryChunk {
  const last = entries.at(-1) ?? entries[0];
  return { epoch, prev, first: entries[0].syncId, last: last.syncId, actions: entries };
}

/** Splits a run of log entries into chunks of at most `bytesMax`. An entry larger than that is a chunk of its own. */
export function chunksAfter(
  epoch: string,
  prev: string,
  entries: readonly StoredEntry[],
  bytesMax: number = STREAM_LIMITS.chunkBytesMax,
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
  for (const entry of entries) {
    const size = Buffer.byteLength(textOf(entry));
    if (bytes + size > bytesMax) close();
    run.push(entry);
    bytes += size;
  }
  close();
  return chunks;
}

/** Names a chunk by its epoch and positions: the `Nats-Msg-Id` of its message. */
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
