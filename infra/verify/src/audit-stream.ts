import { decodeChunk, isJetStreamError, openPublisher } from '@wts/log/stream';
import { STREAM } from '@wts/contracts';
import type { NatsConnection, StreamInfo } from 'nats';
import { setTimeout as pause } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { FINDINGS_MAX, type Finding } from './finding.ts';

/** A relay that was held up goes on within a second or two. */
const BEHIND_MS_MAX = 10_000;
const LOOK_EVERY_MS = 100;
/** A cluster that lost the leader of the stream has another one within ten seconds. */
const SILENT_MS_MAX = 30_000;
const ANSWER_MS = 1_000;
const READ_AT_ONCE = 100;
const NO_MESSAGE = 10037;
const STREAM_NOT_FOUND = 10059;

export interface Waits {
  readonly behindMsMax?: number;
  /** A stream of which nothing can be read for so long is given up, and that is a finding. */
  readonly silentMsMax?: number;
}

/**
 * Reads what the stream keeps and holds it against the log: each chunk follows the one before it and says what the log
 * says, and the stream comes to where the log is. Every wait has an end: a broker that dies meanwhile is waited for, and when
 * it does not come back, what could not be read is a finding.
 */
export async function auditStream(
  nc: NatsConnection,
  client: ClientBase,
  { behindMsMax = BEHIND_MS_MAX, silentMsMax = SILENT_MS_MAX }: Waits = {},
): Promise<{ chunks: number; findings: Finding[] }> {
  const findings: Finding[] = [];
  const found = (seen: string): void => {
    if (findings.length < FINDINGS_MAX) findings.push({ promise: 'stream-is-log', seen });
  };
  const behind = await untilUpToDate(nc, client, behindMsMax);
  if (behind !== null) found(behind);
  let chunks = 0;
  let last: { epoch: string; at: string } | null = null;
  for await (const read of readStream(nc, silentMsMax)) {
    if (typeof read === 'string') {
      found(read);
      break;
    }
    const chunk = decodeChunk(read);
    chunks += 1;
    if (last !== null && last.epoch === chunk.epoch && chunk.prev !== last.at)
      found(`chunk ${chunk.first}-${chunk.last} says it follows ${chunk.prev}; before it stands ${last.at}`);
    last = { epoch: chunk.epoch, at: chunk.last };
    // A hollow chunk only says that these places are committed.
    if (chunk.actions.length === 0) continue;
    const { rows } = await client.query<{ sync_id: string; event_id: string }>(
      `select sync_id::text, event_id::text from sync.sync_actions where sync_id between $1 and $2 order by sync_id`,
      [chunk.first, chunk.last],
    );
    // The stream may keep longer what the log has trimmed, be it a part of a chunk.
    const floor = rows.length === chunk.actions.length ? 0n : await floorOf(client);
    const kept = chunk.actions.filter(({ syncId }) => BigInt(syncId) > floor);
    const events = new Map(rows.map((row) => [row.sync_id, row.event_id]));
    for (const { syncId, eventId } of kept)
      if (events.get(syncId) !== eventId) found(`entry ${syncId} of the stream is not the log's`);
    const logged = rows.filter(({ sync_id }) => BigInt(sync_id) > floor).length;
    if (logged !== kept.length)
      found(`chunk ${chunk.first}-${chunk.last} has ${kept.length} entries, the log ${logged}`);
  }
  return { chunks, findings };
}

/** The messages that the stream keeps, in order; at last a sentence when it could not be read to its end. */
async function* readStream(nc: NatsConnection, silentMsMax: number): AsyncGenerator<Uint8Array | string> {
  let state: StreamInfo['state'] | null;
  try {
    state = await insist(silentMsMax, async () => (await infoOf(nc))?.state ?? null);
  } catch (failure) {
    yield `the stream could not be looked at for ${silentMsMax} ms: ${(failure as Error).message}`;
    return;
  }
  const { first_seq: first, last_seq: end } = state ?? { first_seq: 1, last_seq: 0 };
  for (let from = first; from <= end; from += READ_AT_ONCE) {
    const places = Array.from({ length: Math.min(READ_AT_ONCE, end - from + 1) }, (_, index) => from + index);
    let read: readonly (Uint8Array | null)[];
    try {
      read = await insist(silentMsMax, () => readMessages(nc, places));
    } catch (failure) {
      yield `the stream could not be read from message ${from} of ${end} on, for ${silentMsMax} ms: ${(failure as Error).message}`;
      return;
    }
    yield* read.filter((data) => data !== null);
  }
}

async function readMessages(nc: NatsConnection, places: readonly number[]): Promise<(Uint8Array | null)[]> {
  const { streams } = await nc.jetstreamManager({ checkAPI: false, timeout: ANSWER_MS });
  // What has grown too old meanwhile is gone.
  return Promise.all(
    places.map((seq) =>
      streams.getMessage(STREAM.name, { seq }).then(
        ({ data }) => data,
        (failure: unknown) => (isJetStreamError(failure, NO_MESSAGE) ? null : Promise.reject(failure as Error)),
      ),
    ),
  );
}

/** Tries again until it succeeds or the time is over; then the last failure is thrown. */
async function insist<T>(withinMs: number, work: () => Promise<T>): Promise<T> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    try {
      return await work();
    } catch (failure) {
      if (performance.now() > deadlineMs) throw failure;
      await pause(LOOK_EVERY_MS);
    }
  }
}

/** Null once the stream has come to where the log was when this was asked; else how far it is behind. */
async function untilUpToDate(nc: NatsConnection, client: ClientBase, withinMs: number): Promise<string | null> {
  const { rows } = await client.query<{ head: string | null }>(
    `select max(sync_id)::text as head from sync.sync_actions`,
  );
  const head = BigInt(rows[0]?.head ?? 0);
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const end = await endOf(nc, head).catch((failure: unknown) => failure as Error);
    if (typeof end === 'bigint' && end >= head) return null;
    if (performance.now() > deadlineMs) {
      return typeof end === 'bigint'
        ? `the stream has come to ${end}, the log was at ${head} long before`
        : `the stream could not be looked at for ${withinMs} ms: ${end.message}`;
    }
    await pause(LOOK_EVERY_MS);
  }
}

/** Where the stream ends. One whose chunks have all grown old was at the head of a log to which nothing was added since. */
async function endOf(nc: NatsConnection, head: bigint): Promise<bigint> {
  const info = await infoOf(nc);
  if (info === null || info.state.last_seq === 0) return 0n;
  return (await openPublisher(nc).last())?.last ?? head;
}

/** Null where there is no stream. */
async function infoOf(nc: NatsConnection): Promise<StreamInfo | null> {
  const manager = await nc.jetstreamManager({ checkAPI: false, timeout: ANSWER_MS });
  return manager.streams.info(STREAM.name).catch((failure: unknown) => {
    if (isJetStreamError(failure, STREAM_NOT_FOUND)) return null;
    throw failure;
  });
}

async function floorOf(client: ClientBase): Promise<bigint> {
  const { rows } = await client.query<{ floor: string }>(`select floor::text from sync.log_state`);
  return BigInt(rows[0]?.floor ?? 0);
}
