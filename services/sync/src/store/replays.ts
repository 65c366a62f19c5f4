import { LIMITS } from '@wts/contracts';
import type { Pool } from 'pg';
import { Prepared, type Call } from './prepared.ts';

/** The name a unit is sent under: sent again, it is known by it. */
export interface SentAs {
  readonly userId: string;
  readonly clientId: string;
  readonly clientTxId: string;
}

/** Where in the log a unit stands that was committed before. */
export interface Replay {
  readonly lastId: bigint;
  readonly mainIds: readonly bigint[];
}

/** By `nameOf`. */
export type Replays = Map<string, Replay>;

export function nameOf({ userId, clientId, clientTxId }: SentAs): string {
  return JSON.stringify([userId, clientId, clientTxId]);
}

/** LIMIT keeps the planner from reading the whole table of keys for a join: each is looked up by the primary key. */
const REPLAYS = new Prepared(
  'uuid[], text[], text[]',
  `select k.* from unnest($1::uuid[], $2::text[], $3::text[]) as s(u, x, t),
    lateral (select user_id, client_id, client_tx_id, last_id::text, main_ids::text[] from sync.idempotency_keys
      where user_id = s.u and client_id = s.x and client_tx_id = s.t limit 1) k`,
);

function columnsOf(sent: readonly SentAs[]): [people: string[], clients: string[], transactions: string[]] {
  return [
    sent.map(({ userId }) => userId),
    sent.map(({ clientId }) => clientId),
    sent.map(({ clientTxId }) => clientTxId),
  ];
}

export function selectReplays(sent: readonly SentAs[]): Call {
  return REPLAYS.with(...columnsOf(sent));
}

/** What is known of these by now; undefined where nothing is. */
export async function findReplays(pool: Pool, sent: readonly SentAs[]): Promise<(Replay | undefined)[]> {
  const replays = replaysOf((await pool.query(REPLAYS.text, columnsOf(sent))).rows);
  return sent.map((one) => replays.get(nameOf(one)));
}

interface KeyRow {
  user_id: string;
  client_id: string;
  client_tx_id: string;
  last_id: string;
  main_ids: string[];
}

export function replaysOf(rows: readonly unknown[]): Replays {
  return new Map(
    (rows as KeyRow[]).map((row) => [
      nameOf({ userId: row.user_id, clientId: row.client_id, clientTxId: row.client_tx_id }),
      { lastId: BigInt(row.last_id), mainIds: row.main_ids.map(BigInt) },
    ]),
  );
}

const FORGOTTEN_AT_ONCE = 20_000;

/** Forgets some of those that are past LIMITS.idempotencyDays. */
export async function forgetReplays(pool: Pool): Promise<void> {
  await pool.query(
    `delete from sync.idempotency_keys where ctid = any(array(
       select ctid from sync.idempotency_keys where created_at < now() - make_interval(days => $1) limit $2 for update skip locked))`,
    [LIMITS.idempotencyDays, FORGOTTEN_AT_ONCE],
  );
}
