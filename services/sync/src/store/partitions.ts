import type { Pool } from 'pg';

/** Small enough that dropping one trims a sensible piece, large enough that a long log has few. */
const PARTITION_ENTRIES = 1_000_000n;
/** Made ahead of the head, so that no commit ever meets the default partition. */
const PARTITIONS_AHEAD = 3n;

/** Makes the partitions the log will need next. Any replica may, and two at once are harmless. */
export async function makePartitions(pool: Pool, head: bigint): Promise<void> {
  const first = head / PARTITION_ENTRIES;
  for (let index = first; index <= first + PARTITIONS_AHEAD; index += 1n) {
    const name = `sync_actions_${index}`;
    const from = index * PARTITION_ENTRIES;
    const { rows } = await pool.query<{ there: boolean }>(`select to_regclass($1) is not null as there`, [
      `sync.${name}`,
    ]);
    if (rows[0]?.there) continue;
    await pool.query(
      `create table if not exists sync.${name} partition of sync.sync_actions for values from (${from}) to (${from + PARTITION_ENTRIES})`,
    );
  }
}
