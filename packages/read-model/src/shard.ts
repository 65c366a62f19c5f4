import { LOG_STATE, type Queryable } from '@wts/log';

/** A log without entries has no number that anything has seen. */
const CLAIM = `update sync.log_state set shard = $1
  where shard is distinct from $1::int and (shard is null or not exists (select from sync.sync_actions))`;

/**
 * Compares SHARD with the number that the database has from the first start of sync, which `claims` it. Returns the sentence of a refusal:
 * the streams, subjects and metrics of a log are named by its number, so two logs with the same one would be taken for each other.
 * Keeps cells.shard.
 */
export function shardCheck(
  shard: number,
  { claims = false }: { readonly claims?: boolean } = {},
): (database: Queryable) => Promise<string | null> {
  return async (database) => {
    if (claims) await database.query(CLAIM, [shard]);
    const { rows } = await database.query<{ shard: number | null }>(`select shard from ${LOG_STATE}`);
    const stored = rows[0]?.shard ?? shard;
    if (stored === shard) return null;
    return (
      `SHARD is ${shard}, and the database at DATABASE_URL has log ${stored}. Set SHARD=${stored}, or DATABASE_URL to the database of ` +
      `log ${shard}; infra/docs/cells.md says how a log gets another number.`
    );
  };
}
