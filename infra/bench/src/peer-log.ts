import { connectTo, type TestSystem } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { GROUPS, OWN_GROUPS, type LargeLog } from './large-log.ts';

/** The only key that the peer knows. */
export const PEER_KEY = 'bench';

/** Fills the peer's log as `growLog` fills ours: a tenth in the first group, half of the rest in groups of others. */
export async function growPeerLog(testSystem: TestSystem, entries: number): Promise<LargeLog> {
  const groups = Array.from({ length: GROUPS }, () => randomUUID() as string);
  await using client = await connectTo(testSystem.database.url);
  const { rows } = await client.query<{ head: string }>(
    `select coalesce(max(id), 0)::text as head from strata.sync_actions`,
  );
  await client.query(
    `insert into strata.sync_group_memberships (user_id, group_id, group_type)
     select $1, g, 'workspace' from unnest($2::uuid[]) g`,
    [testSystem.userId, groups.slice(0, OWN_GROUPS)],
  );
  await client.query(
    `insert into strata.sync_actions (model, model_id, action, data, group_id, client_id, client_tx_id)
     select 'Task', gen_random_uuid(), 'U',
       jsonb_build_object('title', 'Write down what the migration needs', 'updatedAt', extract(epoch from now()) * 1000),
       ($1::uuid[])[case when n % 10 = 0 then 1 else 2 + (n % ($2::int - 1)) end], 'bench', gen_random_uuid()
     from generate_series(1, $3::int) n`,
    [groups, GROUPS, entries],
  );
  await client.query('analyze strata.sync_actions');
  const reader = { userId: testSystem.userId, apiKey: PEER_KEY };
  return { entries, groups: groups.slice(0, OWN_GROUPS), from: BigInt(rows[0]?.head ?? '0'), reader };
}
