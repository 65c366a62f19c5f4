import { CLIENT_FLOOR, LOG_STATE, type LogRow } from '@wts/log';
import type { Pool } from 'pg';
import { columnsOf, type IdempotencyKey } from './idempotency-keys.ts';
import { POSITIONS } from './positions.ts';
import { arrayOf, fromJsonList, jsonList, preparedByKey, PreparedStatement, type Statement } from './prepared.ts';

/*
 * The log: what became true, in one order.
 *
 * Positions are computed under a lock that ends with the transaction (store/positions.ts): the next commit can take the lock only
 * after PostgreSQL made the one before visible. So a reader that sees position N sees every position below it, and no reader waits
 * for late entries. A sequence does not give that.
 */

/**
 * Under the lock: a promoted or restored database begins a new epoch before it takes the next entry. The id of the server, which costs more
 * to read, is compared by the maintenance of the log. A schema without migration 0022 has no id of the table, and a service that waits for
 * the migration already does its background work. Keeps sync.log.epoch.
 */
const BEGIN_EPOCH = new PreparedStatement(
  '',
  `select sync.begin_epoch() from ${LOG_STATE} and (split_part(lineage, '/', 2) <> sync.log_timeline()
    or split_part(lineage, '/', 3) not in ('', 'sync.log_state'::regclass::oid::text))`,
);

/** An entry to be appended; its position is the base of its commit plus `offset`. */
export type NewEntry = Omit<LogRow, 'syncId' | 'createdAt'> & { readonly offset: number };

export interface NewIdempotencyKey extends IdempotencyKey {
  /** The unit's last entry: its offset, or the position of an older one when it changes nothing. */
  readonly last: number | bigint;
  /** The entry that answers each of its mutations: an offset, or the position of an older entry. */
  readonly mains: readonly (number | bigint)[];
}

const ENTRY = 'uuid[], uuid[], uuid[], text[], uuid[], text[], text, text, text[], uuid[], text[], text[], boolean[]';
const KEY = 'uuid[], text[], text[], bigint[], text[]';

/** What an append assumes of the workspaces of its entries: that none moves, or that each is in this state of a move. */
export type MoveCheck = '' | 'arriving' | 'moved';

/**
 * Where no workspace moves, the check is the comparison of one flag. While there are moves, or kept copies, a commit of other workspaces
 * reads only which ones they are: a subquery without a reference to `next`, which is run once and only if `has_moves`.
 */
const checkMoves = (expected: MoveCheck): string =>
  expected === ''
    ? `case when has_moves and exists (select from sync.workspace_moves where workspace_id = any($2)) then sync.check_moves($2, $4, null) else true end`
    : `sync.check_moves($2, $4, '${expected}')`;

const APPEND = preparedByKey(
  (expected: MoveCheck) =>
    new PreparedStatement(
      `${ENTRY}, ${KEY}, timestamptz`,
      `with next as materialized (${POSITIONS.next}),
entries as (
  insert into sync.sync_actions (sync_id, event_id, workspace_id, group_id, model, model_id, action, record, data, changed, actor_id, client_id, client_tx_id, completes, created_at)
  select next.base + s.n, s.e, s.w, s.g, s.m, s.i, s.a, s.r, s.d, s.c::text[], s.u, s.x, s.t, s.o, $19
  from next, unnest($1, $2, $3, $4, $5, $6, ${fromJsonList('$7')}, ${fromJsonList('$8')}, $9, $10, $11, $12, $13) with ordinality as s(e, w, g, m, i, a, r, d, c, u, x, t, o, n)
),
keys as (
  insert into sync.idempotency_keys (user_id, client_id, client_tx_id, last_id, main_ids, created_at)
  select s.u, s.x, s.t, case when s.l > 0 then next.base + s.l else -s.l end, array(select case when place > 0 then next.base + place else -place end from unnest(s.m::bigint[]) with ordinality as m(place, n) order by n), $19
  from next, unnest($14, $15, $16, $17, $18) as s(u, x, t, l, m)
)
select head::text, base::text, epoch from next where ${checkMoves(expected)}`,
    ),
);

/** What the last statement of `append` returns. */
export interface Appended {
  /** The last position before these entries. */
  readonly head: string;
  /** The position of an entry is this plus its offset. */
  readonly base: string;
  readonly epoch: string;
}

/**
 * Takes the lock, reads the head, appends entries and idempotency keys at the positions that follow. Sent in one message with
 * COMMIT, so the lock is held for one statement and one flush. The statement that reads the head has a snapshot of its own, taken
 * after the lock; so have the `conditions`. The transaction ends, to be tried again, when a workspace is not in the state of `move`.
 */
export function append(
  entries: readonly NewEntry[],
  keys: readonly NewIdempotencyKey[],
  createdAt: string,
  { conditions = [], move = '' }: { readonly conditions?: readonly Statement[]; readonly move?: MoveCheck } = {},
): Statement[] {
  const append = APPEND(move).with(
    entries.map(({ eventId }) => eventId),
    entries.map(({ workspaceId }) => workspaceId),
    entries.map(({ groupId }) => groupId),
    entries.map(({ modelName }) => modelName),
    entries.map(({ modelId }) => modelId),
    entries.map(({ action }) => action),
    jsonList(entries.map(({ record }) => record)),
    jsonList(entries.map(({ data }) => data)),
    entries.map(({ changed }) => arrayOf(changed)),
    entries.map(({ actorId }) => actorId),
    entries.map(({ clientId }) => clientId),
    entries.map(({ clientTxId }) => clientTxId),
    entries.map(({ completes }) => String(completes)),
    ...columnsOf(keys),
    keys.map(({ last }) => numberOf(last)),
    keys.map(({ mains }) => arrayOf(mains.map(numberOf))),
    createdAt,
  );
  return [POSITIONS.lock, BEGIN_EPOCH.with(), ...conditions, append];
}

/** Older positions are passed as negative numbers, because offsets are positive. */
function numberOf(place: number | bigint): string {
  return String(typeof place === 'bigint' ? -place : place);
}

/** Begins a new epoch when the database was promoted or restored since the last one began. */
export async function beginEpochAfterPromotion(pool: Pool): Promise<void> {
  await pool.query(
    `${POSITIONS.lock}; select sync.begin_epoch() from sync.log_state where lineage <> sync.log_lineage()`,
  );
}

/**
 * The first INSERT entry of each record since it was made the last time: a record may be made again after it was deleted, and a
 * move has INSERT entries of the same record. Relies on index (model_id, sync_id).
 */
export const CREATIONS = new PreparedStatement(
  'uuid[], text',
  `select distinct on (model_id) model_id as id, client_id, actor_id, sync_id::text
    from sync.sync_actions where model_id = any($1) and model = $2 and action = 'INSERT'
    order by model_id, record->>'createdAt' desc, sync_actions.sync_id`,
);

/**
 * The position of each record's last entry; where that was trimmed, the floor, which every reader has passed. Relies on index
 * (model_id, sync_id).
 */
export const LAST_ENTRIES = new PreparedStatement(
  'uuid[], text',
  `select r.id, coalesce(
      (select sync_id from sync.sync_actions where model_id = r.id and model = $2 order by sync_actions.sync_id desc limit 1),
      (select ${CLIENT_FLOOR} from sync.log_state))::text as last
    from unnest($1) r(id)`,
);
