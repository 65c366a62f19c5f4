import { decodeChunk, openPublisher } from '@wts/action-stream';
import { STREAM } from '@wts/contracts';
import type { NatsConnection, StreamInfo } from 'nats';
import { setTimeout as pause } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { FINDINGS_MAX, type Finding } from './finding.ts';

/** A relay that was held up goes on within a second or two. */
const BEHIND_MS_MAX = 10_000;
const LOOK_EVERY_MS = 100;

/**
 * Reads what the stream keeps and holds it against the log: each chunk follows the one before it and says what the log
 * says, and the stream comes to where the log is.
 */
export async function auditStream(
  nc: NatsConnection,
  client: ClientBase,
  behindMsMax: number = BEHIND_MS_MAX,
): Promise<{ chunks: number; findings: Finding[] }> {
  const findings: Finding[] = [];
  const found = (seen: string): void => {
    if (findings.length < FINDINGS_MAX) findings.push({ promise: 'stream-is-log', seen });
  };
  const behind = await untilUpToDate(nc, client, behindMsMax);
  if (behind !== null) found(behind);
  const info = await infoOf(nc);
  if (info === null || info.state.messages === 0) return { chunks: 0, findings };
  const consumer = await nc.jetstream().consumers.get(STREAM.name);
  const messages = await consumer.consume({ max_messages: 200 });
  let chunks = 0;
  let last: { epoch: string; at: string } | null = null;
  for await (const message of messages) {
    if (message.seq >= info.state.last_seq) messages.stop();
    const chunk = decodeChunk(message.data);
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
    // The stream may keep longer what the log has trimmed.
    if (rows.length === 0 && (await isTrimmed(client, chunk.last))) continue;
    const events = new Map(rows.map((row) => [row.sync_id, row.event_id]));
    for (const { syncId, eventId } of chunk.actions)
      if (events.get(syncId) !== eventId) found(`entry ${syncId} of the stream is not the log's`);
    if (rows.length !== chunk.actions.length)
      found(`chunk ${chunk.first}-${chunk.last} has ${chunk.actions.length} entries, the log ${rows.length}`);
  }
  return { chunks, findings };
}

/** Null once the stream has come to where the log was when this was asked; else how far it is behind. */
async function untilUpToDate(nc: NatsConnection, client: ClientBase, withinMs: number): Promise<string | null> {
  const { rows } = await client.query<{ head: string | null }>(
    `select max(sync_id)::text as head from sync.sync_actions`,
  );
  const head = BigInt(rows[0]?.head ?? 0);
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const end = await endOf(nc, head);
    if (end >= head) return null;
    if (performance.now() > deadlineMs) return `the stream has come to ${end}, the log was at ${head} long before`;
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
  const manager = await nc.jetstreamManager();
  return manager.streams.info(STREAM.name).catch(() => null);
}

async function isTrimmed(client: ClientBase, place: string): Promise<boolean> {
  const { rowCount } = await client.query(`select from sync.log_state where floor >= $1`, [place]);
  return rowCount === 1;
}
