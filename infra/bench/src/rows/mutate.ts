import { randomUUID } from 'node:crypto';
import type { World } from '@wts/testkit';
import { Pool as Connections } from 'pg';
import { closedLoop, median, type Measured } from '../load.ts';
import type { Door } from '../door.ts';
import type { Row } from '../report.ts';
import { ms, number } from '../report.ts';
import { mutate, newTask, openClients, type Writer } from '../traffic.ts';

interface Shape {
  readonly clients: number;
  readonly batch: number;
  readonly perSecondMin: number;
  /** Against the peer. */
  readonly ratioMin: number;
}

const SHAPES: readonly Shape[] = [
  { clients: 16, batch: 1, perSecondMin: 2_500, ratioMin: 8 },
  { clients: 8, batch: 50, perSecondMin: 10_000, ratioMin: 15 },
];

/**
 * Changes accepted per second through the gateway, beside the raw limit: a bare loop that writes the same task and log rows,
 * with the same indexes, from as many connections in batches of the same size, and does nothing else. No order, no rules.
 */
export async function mutateRows(world: World, peer: Door | null, rounds: number, seconds: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { clients, batch, perSecondMin, ratioMin } of SHAPES) {
    const ours: Measured[] = [];
    const raw: Measured[] = [];
    const theirs: Measured[] = [];
    await throughDoor(world, clients, batch, 1);
    for (let round = 0; round < rounds; round += 1) {
      ours.push(await throughDoor(world, clients, batch, seconds));
      raw.push(await bareLoop(world, clients, batch, seconds));
      if (peer !== null) theirs.push(await throughDoor(peer, clients, batch, seconds));
    }
    const [us, limit] = [ours, raw].map((all) => median(all, ({ perSecond }) => perSecond)) as [Measured, Measured];
    rows.push({
      what: `mutate ${clients}x${batch}`,
      ours: `${number(us.perSecond)}/s, p50 ${ms(us.p50Ms)}, p99 ${ms(us.p99Ms)}`,
      against: `bare pg loop ${number(limit.perSecond)}/s`,
      ratio: (us.perSecond / limit.perSecond).toFixed(2),
      goal: `>= ${number(perSecondMin)}/s`,
      isReached: us.perSecond >= perSecondMin,
    });
    if (peer === null) continue;
    const them = median(theirs, ({ perSecond }) => perSecond);
    const ratio = us.perSecond / them.perSecond;
    rows.push({
      what: `mutate ${clients}x${batch}, beside the peer`,
      ours: `${number(us.perSecond)}/s, p50 ${ms(us.p50Ms)}`,
      against: `${peer.name} ${number(them.perSecond)}/s, p50 ${ms(them.p50Ms)}`,
      ratio: ratio.toFixed(1),
      goal: `>= ${ratioMin}x`,
      isReached: ratio >= ratioMin,
    });
  }
  return rows;
}

async function throughDoor(
  door: Writer & { readonly baseUrl: string },
  clients: number,
  batch: number,
  seconds: number,
): Promise<Measured> {
  const pool = openClients(door.baseUrl, clients);
  try {
    return await closedLoop(clients, seconds, async () => (await mutate(pool, door, batch)).results.length);
  } finally {
    await pool.close();
  }
}

async function bareLoop(world: World, clients: number, batch: number, seconds: number): Promise<Measured> {
  const connections = new Connections({ connectionString: world.database.url, max: clients });
  try {
    await connections.query(`create schema if not exists bench`);
    await connections.query(`create table if not exists bench.tasks (like sync.tasks including all)`);
    await connections.query(`create table if not exists bench.log (like sync.sync_actions including all)`);
    let place = Number(
      (await connections.query<{ at: string }>(`select coalesce(max(sync_id), 0)::text as at from bench.log`)).rows[0]
        ?.at,
    );
    return await closedLoop(clients, seconds, async () => {
      const [tasks, log] = bareRows(world, batch, () => (place += 1));
      await connections.query(
        `with t as (insert into bench.tasks select * from json_populate_recordset(null::bench.tasks, $1))
         insert into bench.log select * from json_populate_recordset(null::bench.log, $2)`,
        [tasks, log],
      );
      return batch;
    });
  } finally {
    await connections.end();
  }
}

function bareRows(world: World, batch: number, next: () => number): [tasks: string, log: string] {
  const now = new Date().toISOString();
  const tasks: object[] = [];
  const log: object[] = [];
  for (let index = 0; index < batch; index += 1) {
    const { modelId, payload } = newTask(world.workspaceId);
    const place = next();
    const record = { id: modelId, ...payload, number: place, createdAt: now, updatedAt: now };
    const { title, description, priority } = payload;
    const common = { workspace_id: world.workspaceId, group_id: world.workspaceId, record };
    tasks.push({
      id: modelId,
      ...common,
      title,
      description,
      priority,
      number: place,
      creator_id: world.userId,
      start: 'not_started',
      start_bucket: 'today',
      label_ids: [],
      sort_order: '',
      created_at: now,
      updated_at: now,
    });
    log.push({
      sync_id: place,
      event_id: randomUUID(),
      ...common,
      model: 'Task',
      model_id: modelId,
      action: 'INSERT',
      changed: [],
      actor_id: world.userId,
      client_id: 'bench',
      client_tx_id: randomUUID(),
      created_at: now,
    });
  }
  return [JSON.stringify(tasks), JSON.stringify(log)];
}
