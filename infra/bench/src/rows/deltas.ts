import { connectTo, type TestSystem } from '@wts/testkit';
import { OWN_GROUPS, type LargeLog } from '../large-log.ts';
import { headersOfGateway, type Target } from '../target.ts';
import { GOALS } from '../goals.ts';
import { percentiles, type Measured } from '../load.ts';
import { atMost, ms, number, type ReportRow } from '../report.ts';
import { alternate, median, ratioOf } from '../rounds.ts';
import type { BenchmarkContext, BenchmarkResult } from '../context.ts';
import { openClients } from '../traffic.ts';

const WARM_UP_MS = 500;

/** Pages of the sync service and of the gateway, compared with a bare `pg` query for as many rows. */
export async function deltaRows(context: BenchmarkContext): Promise<BenchmarkResult> {
  const { testSystem, ours, rounds, seconds, sizes } = context;
  const { entries, page } = sizes.deltas;
  const log = await ours.growLog(entries, sizes.statisticsMs);
  const rows: ReportRow[] = [];
  const raw: Record<string, unknown> = {};
  for (const { groups, ratioMax } of [
    { groups: 1, ...GOALS.deltasOneGroup },
    { groups: OWN_GROUPS, ...GOALS.deltasManyGroups },
  ]) {
    const load = { groups, page, seconds };
    const measured = await alternate<'service' | 'gateway' | 'bare', Measured>(rounds, {
      service: () => readPages(syncTarget(testSystem, log), log, load),
      gateway: () => readPages(ours, log, load),
      bare: () => readRows(testSystem, log, load),
    });
    const [service, gateway, bare] = [
      median(measured.service, p50),
      median(measured.gateway, p50),
      median(measured.bare, p50),
    ];
    const ratio = ratioOf(measured.service.map(p50), measured.bare.map(p50));
    const what = `delta page of ${page}, ${groups === 1 ? 'one group' : `${groups} groups`}, log of ${number(entries)}`;
    raw[what] = measured;
    rows.push({
      what,
      ours: `p50 ${ms(service.p50Ms)}, p99 ${ms(service.p99Ms)}; through the gateway p50 ${ms(gateway.p50Ms)}`,
      against: `the same number of rows with bare pg p50 ${ms(bare.p50Ms)}`,
      ...atMost(ratio, ratioMax),
    });
  }
  return { rows, raw };
}

const p50 = ({ p50Ms }: Measured): number => p50Ms;

interface PageLoad {
  /** The groups that the client asks for. */
  readonly groups: number;
  readonly page: number;
  readonly seconds: number;
}

interface PageTarget {
  readonly baseUrl: string;
  readonly headers: Record<string, string>;
}

function syncTarget(testSystem: TestSystem, { reader }: LargeLog): PageTarget {
  return { baseUrl: testSystem.service('sync').url, headers: headersOfGateway(testSystem, 'sync', reader.userId)() };
}

async function readRows(
  testSystem: TestSystem,
  { entries, from }: LargeLog,
  { page, seconds }: PageLoad,
): Promise<Measured> {
  await using client = await connectTo(testSystem.database.url);
  return await timedLoop(seconds, async () => {
    const after = from + BigInt(Math.floor(Math.random() * entries * 0.4));
    const { rows } = await client.query({
      name: 'rows',
      text: `select sync_id, group_id, model, model_id, action, data::text, client_id, client_tx_id, created_at
          from sync.sync_actions where sync_id > $1 order by sync_id limit $2`,
      values: [after.toString(), page],
    });
    if (rows.length !== page) throw new Error(`the query returned ${rows.length} of ${page} rows`);
  });
}

/** Reads full pages from random positions. The time ends with the last byte; parsing does not count. */
export async function readPages(
  target: PageTarget | Target,
  { entries, groups, from, reader }: LargeLog,
  { groups: count, page, seconds }: PageLoad,
): Promise<Measured> {
  const headers = 'headers' in target ? target.headers : { authorization: `Bearer ${reader.apiKey}` };
  await using pool = openClients(target.baseUrl, 1);
  const syncGroups = groups.slice(0, count).join(',');
  return await timedLoop(seconds, async () => {
    const after = from + BigInt(Math.floor(Math.random() * entries * 0.4));
    const path = `/sync/deltas?after=${after}&limit=${page}&syncGroups=${syncGroups}`;
    const { statusCode, body } = await pool.request({ method: 'GET', path, headers });
    const text = await body.text();
    return () => {
      const { actions } = JSON.parse(text) as { actions: unknown[] };
      if (statusCode !== 200 || actions.length !== page)
        throw new Error(`a page got status ${statusCode} and ${actions.length} actions`);
    };
  });
}

/**
 * Makes one call after another. A function that a call returns runs outside its time. What comes before `WARM_UP_MS` does not count; at
 * least one call does, also when one before it took all the time.
 */
async function timedLoop(seconds: number, call: () => Promise<void | (() => void)>): Promise<Measured> {
  const latenciesMs: number[] = [];
  const countsMs = performance.now() + Math.min(WARM_UP_MS, seconds * 1000);
  for (let nowMs = performance.now(); nowMs < countsMs + seconds * 1000 || latenciesMs.length === 0;) {
    const check = await call();
    const endMs = performance.now();
    if (nowMs > countsMs) latenciesMs.push(endMs - nowMs);
    check?.();
    nowMs = performance.now();
  }
  return { perSecond: latenciesMs.length / seconds, ...percentiles(latenciesMs) };
}
