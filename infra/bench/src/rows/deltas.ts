import type { World } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { Door } from '../door.ts';
import { listenAtHead, untilSilent } from '../listening.ts';
import { closedLoop, type Measured } from '../load.ts';
import { ms, number, type Row } from '../report.ts';
import { mutate, openClients } from '../traffic.ts';

const PAGE = 1000;
const GROUPS = 400;
const OWN_GROUPS = 200;
const SETTLE_MS = 120_000;

export interface LargeLog {
  readonly entries: number;
  /** Of the reader; the first is in a tenth of all entries. */
  readonly groups: readonly string[];
  readonly from: bigint;
}

/** A log in which half of the traffic is others'. Written past the rules: only its size matters here. */
export async function growLog(world: World, ours: Door, entries: number): Promise<LargeLog> {
  const groups = Array.from({ length: GROUPS }, () => randomUUID() as string);
  const client = new Client({ connectionString: world.database.url });
  await client.connect();
  try {
    await client.query(
      `insert into sync.workspace_members (id, user_id, role, created_at, updated_at, workspace_id, group_id, record)
       select gen_random_uuid(), $1, 'member', now(), now(), g, g, '{}' from unnest($2::uuid[]) g`,
      [world.userId, groups.slice(0, OWN_GROUPS)],
    );
    const { rows } = await client.query<{ head: string }>(
      `with head as (select max(sync_id) as at from sync.sync_actions), written as (
         insert into sync.sync_actions (sync_id, event_id, workspace_id, group_id, model, model_id, action, record, data, changed, actor_id, client_id, client_tx_id, created_at)
         select head.at + n, gen_random_uuid(), g, g, 'Task', gen_random_uuid(), 'UPDATE',
           json_build_object('id', g, 'title', 'Write down what the migration needs', 'description', repeat('x', 120)),
           json_build_object('title', 'Write down what the migration needs', 'updatedAt', now()), array['title'], $2, 'bench', gen_random_uuid()::text, now()
         from head, generate_series(1, $3::int) n, lateral (
           select ($1::uuid[])[case when n % 10 = 0 then 1 else 2 + (n % ($4::int - 1)) end] as g
         ) picked
       ) select at::text as head from head`,
      [groups, world.userId, entries, GROUPS],
    );
    await client.query('analyze sync.sync_actions');
    await settle(ours);
    return { entries, groups: groups.slice(0, OWN_GROUPS), from: BigInt(rows[0]?.head ?? '0') };
  } finally {
    await client.end();
  }
}

/** Relay and hub walk through what was written before anything else is measured. */
async function settle(ours: Door): Promise<void> {
  const [socket] = await listenAtHead(ours, 1);
  const pool = openClients(ours.baseUrl, 1);
  await mutate(pool, ours, 1);
  await pool.close();
  if (socket === undefined) return;
  await untilSilent([socket], 3_000, SETTLE_MS);
  socket.close();
}

export async function deltaRows(world: World, ours: Door, entries: number, seconds: number): Promise<Row[]> {
  const log = await growLog(world, ours, entries);
  const limits = [
    { groups: 1, p50MsMax: 5 },
    { groups: OWN_GROUPS, p50MsMax: 50 },
  ];
  const rows: Row[] = [];
  for (const { groups, p50MsMax } of limits) {
    const { p50Ms, p99Ms } = await readPages(ours, log, groups, seconds);
    rows.push({
      what: `delta page of ${PAGE}, ${groups === 1 ? 'one group' : `${groups} groups`}, log of ${number(entries)}`,
      ours: `p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}`,
      against: '',
      ratio: '',
      goal: `<= ${p50MsMax} ms`,
      isReached: p50Ms <= p50MsMax,
    });
  }
  return rows;
}

/** Full pages from random places, one reader. */
export async function readPages(
  { baseUrl, apiKey }: Door,
  { entries, groups, from }: LargeLog,
  count: number,
  seconds: number,
): Promise<Measured> {
  const pool = openClients(baseUrl, 1);
  const asked = groups.slice(0, count).join(',');
  try {
    return await closedLoop(1, seconds, async () => {
      const after = from + BigInt(Math.floor(Math.random() * entries * 0.4));
      const { statusCode, body } = await pool.request({
        method: 'GET',
        path: `/sync/deltas?after=${after}&limit=${PAGE}&syncGroups=${asked}`,
        headers: { authorization: `Bearer ${apiKey}` },
      });
      const { actions } = (await body.json()) as { actions: unknown[] };
      if (statusCode !== 200 || actions.length !== PAGE)
        throw new Error(`a page was answered ${statusCode} with ${actions.length} actions`);
      return 1;
    });
  } finally {
    await pool.close();
  }
}
