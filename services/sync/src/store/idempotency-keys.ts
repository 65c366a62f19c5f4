import { LIMITS } from '@wts/contracts';
import type { Pool } from 'pg';
import { PreparedStatement, type Statement } from './prepared.ts';

/** Names a unit: one that is sent again has the key of the first time. */
export interface IdempotencyKey {
  readonly userId: string;
  readonly clientId: string;
  readonly clientTxId: string;
}

/** The positions of a unit that was committed before. */
export interface Replay {
  readonly lastId: bigint;
  readonly mainIds: readonly bigint[];
}

/** By `keyText`. */
export type Replays = Map<string, Replay>;

export function keyText({ userId, clientId, clientTxId }: IdempotencyKey): string {
  return JSON.stringify([userId, clientId, clientTxId]);
}

/** LIMIT keeps the planner from reading the whole table of keys for a join: each is looked up by the primary key. */
const REPLAYS = new PreparedStatement(
  'uuid[], text[], text[]',
  `select k.* from unnest($1::uuid[], $2::text[], $3::text[]) as s(u, x, t),
    lateral (select user_id as "userId", client_id as "clientId", client_tx_id as "clientTxId", last_id::text, main_ids::text[]
      from sync.idempotency_keys
      where user_id = s.u and client_id = s.x and client_tx_id = s.t limit 1) k`,
);

export function columnsOf(
  keys: readonly IdempotencyKey[],
): [people: string[], clients: string[], transactions: string[]] {
  return [
    keys.map(({ userId }) => userId),
    keys.map(({ clientId }) => clientId),
    keys.map(({ clientTxId }) => clientTxId),
  ];
}

export function selectReplays(keys: readonly IdempotencyKey[]): Statement {
  return REPLAYS.with(...columnsOf(keys));
}

/** The replay of each key by now; undefined where its unit is not committed. */
export async function findReplays(pool: Pool, keys: readonly IdempotencyKey[]): Promise<(Replay | undefined)[]> {
  const replays = replaysOf((await pool.query(REPLAYS.text, columnsOf(keys))).rows);
  return keys.map((key) => replays.get(keyText(key)));
}

type KeyRow = IdempotencyKey & { readonly last_id: string; readonly main_ids: readonly string[] };

export function replaysOf(rows: readonly unknown[]): Replays {
  return new Map(
    (rows as KeyRow[]).map((row) => [keyText(row), { lastId: BigInt(row.last_id), mainIds: row.main_ids.map(BigInt) }]),
  );
}

const DELETED_MAX = 20_000;

/** Deletes some of the keys that are older than LIMITS.idempotencyDays; true when more are left. */
export async function deleteOldIdempotencyKeys(pool: Pool): Promise<boolean> {
  const { rowCount } = await pool.query(
    `delete from sync.idempotency_keys where ctid = any(array(
       select ctid from sync.idempotency_keys where created_at < now() - make_interval(days => $1) limit $2 for update skip locked))`,
    [LIMITS.idempotencyDays, DELETED_MAX],
  );
  return rowCount === DELETED_MAX;
}
