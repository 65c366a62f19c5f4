import { decodeChunk, isJetStreamError, openPublisher } from '@wts/log/stream';
import { STREAM, type EntryChunk, type LogStream } from '@wts/contracts';
import type { NatsConnection, StreamInfo } from 'nats';
import { setTimeout as pause } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { FINDINGS_MAX, type AuditFinding } from './finding.ts';

/** A relay that was interrupted continues within a second or two. */
const BEHIND_MS_MAX = 10_000;
const RETRY_MS = 100;
/** A cluster that lost the leader of the stream elects another one within ten seconds. */
const SILENT_MS_MAX = 30_000;
const REPLY_MS = 1_000;
const READS_MAX = 100;
const NO_MESSAGE = 10037;
const STREAM_NOT_FOUND = 10059;

export interface StreamOptions {
  /** The stream of a cell; without it that of the first one. */
  readonly of?: LogStream;
  readonly behindMsMax?: number;
  /** A stream that cannot be read for so long is a finding. */
  readonly silentMsMax?: number;
}

/**
 * Compares the stream with the log: each chunk follows the one before it and has the same entries, and the stream reaches the
 * head of the log. Every wait has a deadline: when a broker dies and does not restart in time, that is a finding.
 */
export async function auditStream(
  nc: NatsConnection,
  client: ClientBase,
  { of = STREAM, behindMsMax = BEHIND_MS_MAX, silentMsMax = SILENT_MS_MAX }: StreamOptions = {},
): Promise<{ chunks: number; findings: AuditFinding[] }> {
  const findings: AuditFinding[] = [];
  const found = (seen: string): void => {
    if (findings.length < FINDINGS_MAX) findings.push({ guarantee: 'stream-is-log', seen });
  };
  const stream = { nc, of };
  const behind = await untilUpToDate(stream, client, behindMsMax);
  if (behind !== null) found(behind);
  /** The epochs of chunks that had an event of the log. */
  const own = new Set<string>();
  /** By epoch, in what its chunks differ: they are of another log, unless a later chunk of their epoch has an event of this one. */
  const passedOver = new Map<string, string[]>();
  let chunks = 0;
  let previous: { epoch: string; last: string } | null = null;
  for await (const read of readStream(stream, silentMsMax)) {
    if (typeof read === 'string') {
      found(read);
      break;
    }
    const chunk = decodeChunk(read, of.shard);
    chunks += 1;
    if (previous !== null && previous.epoch === chunk.epoch && chunk.prev !== previous.last)
      found(
        `chunk ${chunk.first}-${chunk.last} names ${chunk.prev} as the entry before it; it follows ${previous.last}`,
      );
    previous = { epoch: chunk.epoch, last: chunk.last };
    // A chunk without entries only states that these positions are committed.
    if (chunk.actions.length === 0) continue;
    const { rows } = await client.query<LoggedEvent>(
      `select sync_id::text, event_id::text from sync.sync_actions where sync_id between $1 and $2 order by sync_id`,
      [chunk.first, chunk.last],
    );
    const events = new Map(rows.map((row) => [row.sync_id, row.event_id]));
    const { epoch } = chunk;
    if (chunk.actions.some(({ syncId, eventId }) => events.get(syncId) === eventId)) {
      own.add(epoch);
      passedOver.get(epoch)?.forEach(found);
      passedOver.delete(epoch);
    }
    const differences = await differencesOf(client, chunk, events);
    if (own.has(epoch) || !(await isOfAnotherLog(client, epoch, rows.length > 0))) differences.forEach(found);
    else passedOver.set(epoch, [...(passedOver.get(epoch) ?? []), ...differences].slice(0, FINDINGS_MAX));
  }
  return { chunks, findings };
}

interface LoggedEvent {
  readonly sync_id: string;
  readonly event_id: string;
}

/** In what a chunk differs from the events that the log has at its positions. */
async function differencesOf(
  client: ClientBase,
  { actions, first, last }: EntryChunk,
  events: ReadonlyMap<string, string>,
): Promise<string[]> {
  // The stream may hold entries that the log has trimmed, also as a part of a chunk, or has lost by a promotion or a restore.
  const floor = events.size === actions.length ? 0n : await floorOf(client);
  const kept = actions.filter(({ syncId }) => BigInt(syncId) > floor);
  const logged = [...events.keys()].filter((syncId) => BigInt(syncId) > floor).length;
  return [
    ...kept
      .filter(({ syncId, eventId }) => events.get(syncId) !== eventId)
      .map(({ syncId }) => `entry ${syncId} of the stream differs from the log`),
    ...(logged === kept.length ? [] : [`chunk ${first}-${last} has ${kept.length} entries, the log ${logged}`]),
  ];
}

interface ReadStream {
  readonly nc: NatsConnection;
  readonly of: LogStream;
}

/** The messages of the stream in order. When the rest could not be read, a sentence about that comes last. */
async function* readStream(stream: ReadStream, silentMsMax: number): AsyncGenerator<Uint8Array | string> {
  let state: StreamInfo['state'] | null;
  try {
    state = await retryUntil(silentMsMax, async () => (await infoOf(stream))?.state ?? null);
  } catch (failure) {
    yield `the stream could not be read for ${silentMsMax} ms: ${(failure as Error).message}`;
    return;
  }
  const { first_seq: first, last_seq: end } = state ?? { first_seq: 1, last_seq: 0 };
  for (let from = first; from <= end; from += READS_MAX) {
    const sequences = Array.from({ length: Math.min(READS_MAX, end - from + 1) }, (_, index) => from + index);
    let read: readonly (Uint8Array | null)[];
    try {
      read = await retryUntil(silentMsMax, () => readMessages(stream, sequences));
    } catch (failure) {
      yield `messages ${from} to ${end} of the stream could not be read for ${silentMsMax} ms: ${(failure as Error).message}`;
      return;
    }
    yield* read.filter((data) => data !== null);
  }
}

async function readMessages({ nc, of }: ReadStream, sequences: readonly number[]): Promise<(Uint8Array | null)[]> {
  const { streams } = await nc.jetstreamManager({ checkAPI: false, timeout: REPLY_MS });
  // The stream may have removed old messages meanwhile.
  return Promise.all(
    sequences.map((seq) =>
      streams.getMessage(of.name, { seq }).then(
        ({ data }) => data,
        (failure: unknown) => (isJetStreamError(failure, NO_MESSAGE) ? null : Promise.reject(failure as Error)),
      ),
    ),
  );
}

/** Retries until `work` succeeds; throws its last error after the deadline. */
async function retryUntil<T>(withinMs: number, work: () => Promise<T>): Promise<T> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    try {
      return await work();
    } catch (failure) {
      if (performance.now() > deadlineMs) throw failure;
      await pause(RETRY_MS);
    }
  }
}

/** Waits until the stream reaches the current head of the log. Null: it did; otherwise a sentence about how far it is. */
async function untilUpToDate(stream: ReadStream, client: ClientBase, withinMs: number): Promise<string | null> {
  const { rows } = await client.query<{ head: string | null }>(
    `select max(sync_id)::text as head from sync.sync_actions`,
  );
  const head = BigInt(rows[0]?.head ?? 0);
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const end = await endOf(stream, head).catch((failure: unknown) => failure as Error);
    if (typeof end === 'bigint' && end >= head) return null;
    if (performance.now() > deadlineMs) {
      return typeof end === 'bigint'
        ? `the stream ends at ${end}, although the log reached ${head} ${withinMs} ms before`
        : `the stream could not be read for ${withinMs} ms: ${end.message}`;
    }
    await pause(RETRY_MS);
  }
}

/** The last position of the stream. When all its chunks have expired, the log has had no new entry since: it is at the head. */
async function endOf({ nc, of }: ReadStream, head: bigint): Promise<bigint> {
  const info = await infoOf({ nc, of });
  if (info === null || info.state.last_seq === 0) return 0n;
  return (await openPublisher(nc, of).last())?.last ?? head;
}

/** Null where there is no stream. */
async function infoOf({ nc, of }: ReadStream): Promise<StreamInfo | null> {
  const manager = await nc.jetstreamManager({ checkAPI: false, timeout: REPLY_MS });
  return manager.streams.info(of.name).catch((failure: unknown) => {
    if (isJetStreamError(failure, STREAM_NOT_FOUND)) return null;
    throw failure;
  });
}

/**
 * NATS may have chunks of a database that another one replaced. Their epoch is not the one of this log, and no earlier one either: the
 * log has other events at their positions (`isTaken`), or it never had an epoch before.
 */
async function isOfAnotherLog(client: ClientBase, epoch: string, isTaken: boolean): Promise<boolean> {
  const { rows } = await client.query<{ other: boolean; is_first: boolean }>(
    `select epoch::text <> $1 as other, began_at = 0 as is_first from sync.log_state`,
    [epoch],
  );
  return rows[0]?.other === true && (isTaken || rows[0].is_first);
}

async function floorOf(client: ClientBase): Promise<bigint> {
  const { rows } = await client.query<{ floor: string }>(
    `select greatest(floor, began_at)::text as floor from sync.log_state`,
  );
  return BigInt(rows[0]?.floor ?? 0);
}
