import { randomUUID } from 'node:crypto';
import type { TestSystem } from '@wts/testkit';
import { Pool as Connections } from 'pg';
import { closedLoop, type Measured } from '../load.ts';
import type { Target } from '../target.ts';
import type { BenchmarkResult, BenchmarkContext } from '../context.ts';
import type { ReportRow } from '../report.ts';
import { all, ms, number, ratioText, reaches } from '../report.ts';
import { alternate, median, ratioOf } from '../rounds.ts';
import { mutate, newTask, openClients } from '../traffic.ts';

interface Shape {
  readonly clients: number;
  readonly batch: number;
  /** Compared with the peer. */
  readonly ratioMin: number;
  readonly p50MsMax?: number;
}

const SHAPES: readonly Shape[] = [
  { clients: 16, batch: 1, ratioMin: 8, p50MsMax: 5 },
  { clients: 8, batch: 50, ratioMin: 15 },
];
const WARM_UP_SECONDS = 1;

const rate = ({ perSecond }: Measured): number => perSecond;

/**
 * Accepted changes per second through the gateway, compared with the peer and with a limit: a bare loop that writes the same
 * rows with the same indexes from as many connections in batches of the same size, without order, rules or HTTP.
 */
export async function mutateRows(context: BenchmarkContext): Promise<BenchmarkResult> {
  const { testSystem, ours, peer, rounds, seconds, print } = context;
  const rows: ReportRow[] = [];
  const raw: Record<string, unknown> = {};
  for (const { clients, batch, ratioMin, p50MsMax } of SHAPES) {
    for (const target of peer === null ? [ours] : [ours, peer])
      await writeLoop(target, clients, batch, WARM_UP_SECONDS);
    const measured = await alternate<'ours' | 'peer' | 'bare', Measured>(rounds, {
      ours: () => writeLoop(ours, clients, batch, seconds),
      peer: peer === null ? undefined : () => writeLoop(peer, clients, batch, seconds),
      bare: () => bareLoop(testSystem, clients, batch, seconds),
    });
    const what = `mutate ${clients}x${batch}`;
    raw[what] = measured;
    const us = median(measured.ours, rate);
    const ratio = ratioOf(measured.ours.map(rate), measured.peer.map(rate));
    const isQuick = p50MsMax === undefined || us.p50Ms <= p50MsMax;
    rows.push({
      what,
      ours: `${number(us.perSecond)}/s, p50 ${ms(us.p50Ms)}, p99 ${ms(us.p99Ms)}`,
      against: peer === null ? '' : textOf(peer, median(measured.peer, rate)),
      ratio: ratioText(ratio),
      goal: `>= ${ratioMin}x${p50MsMax === undefined ? '' : `, p50 <= ${p50MsMax} ms`}`,
      isReached: all(reaches(ratio, ratioMin), isQuick),
    });
    const share = ratioOf(measured.ours.map(rate), measured.bare.map(rate));
    rows.push({
      what: `${what}, share of a bare PostgreSQL loop`,
      ours: `${number(us.perSecond)}/s`,
      against: `bare loop ${number(median(measured.bare, rate).perSecond)}/s`,
      ratio: share === null ? '' : `${share.middle.toFixed(2)}x`,
      goal: '',
      isReached: null,
    });
    print(`${what}: ${rows.at(-2)?.ours}; ${rows.at(-2)?.against}`);
  }
  return { rows, raw };
}

const textOf = ({ name }: Target, { perSecond, p50Ms }: Measured): string =>
  `${name} ${number(perSecond)}/s, p50 ${ms(p50Ms)}`;

async function writeLoop(target: Target, clients: number, batch: number, seconds: number): Promise<Measured> {
  const pool = openClients(target.baseUrl, clients);
  try {
    return await closedLoop(clients, seconds, async () => (await mutate(pool, target, batch)).results.length);
  } finally {
    await pool.close();
  }
}

async function bareLoop(testSystem: TestSystem, clients: number, batch: number, seconds: number): Promise<Measured> {
  const connections = new Connections({ connectionString: testSystem.database.url, max: clients });
  try {
    await connections.query(`create schema if not exists bench`);
    await connections.query(`create table if not exists bench.tasks (like sync.tasks including all)`);
    await connections.query(`create table if not exists bench.log (like sync.sync_actions including all)`);
    const { rows } = await connections.query<{ head: string }>(
      `select coalesce(max(sync_id), 0)::text as head from bench.log`,
    );
    let position = Number(rows[0]?.head);
    return await closedLoop(clients, seconds, async () => {
      const [tasks, log] = bareRows(testSystem, batch, () => (position += 1));
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

function bareRows(testSystem: TestSystem, batch: number, next: () => number): [tasks: string, log: string] {
  const now = new Date().toISOString();
  const tasks: object[] = [];
  const log: object[] = [];
  for (let index = 0; index < batch; index += 1) {
    const { modelId, payload } = newTask(testSystem.workspaceId);
    const position = next();
    const record = { id: modelId, ...payload, number: position, createdAt: now, updatedAt: now };
    const { title, description, priority } = payload;
    const common = { workspace_id: testSystem.workspaceId, group_id: testSystem.workspaceId, record };
    tasks.push({
      id: modelId,
      ...common,
      title,
      description,
      priority,
      number: position,
      creator_id: testSystem.userId,
      start: 'not_started',
      start_bucket: 'today',
      label_ids: [],
      sort_order: '',
      created_at: now,
      updated_at: now,
    });
    log.push({
      sync_id: position,
      event_id: randomUUID(),
      ...common,
      model: 'Task',
      model_id: modelId,
      action: 'INSERT',
      changed: [],
      actor_id: testSystem.userId,
      client_id: 'bench',
      client_tx_id: randomUUID(),
      created_at: now,
    });
  }
  return [JSON.stringify(tasks), JSON.stringify(log)];
}
