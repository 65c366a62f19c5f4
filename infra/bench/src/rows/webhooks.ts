import { setTimeout as pause } from 'node:timers/promises';
import type { BenchmarkContext, BenchmarkResult } from '../context.ts';
import { wallClockOffset } from '../clock.ts';
import { GOALS } from '../goals.ts';
import { openLoop, type Paced, type Percentiles } from '../load.ts';
import { ms, number, type ReportRow } from '../report.ts';
import { median } from '../rounds.ts';
import { subscribeAtHead, untilReceived } from '../subscriber.ts';
import { mutate, openClients } from '../traffic.ts';
import { Endpoints, type Endpoint } from '../webhooks/endpoints.ts';
import { outOfOrder } from '../webhooks/order.ts';
import type { Arrival } from '../webhooks/receivers-worker.ts';
import { commitsOf, latencies, type Sent } from './live.ts';
import { claimRows } from './webhook-claims.ts';
import { rateRows } from './webhook-rates.ts';

/** The endpoints of the paces, in as many workspaces. */
const PACED_ENDPOINTS = 10;
const CONNECTIONS = 64;
const NEIGHBORS_PER_SECOND = 100;
const SILENT_MS = 2_000;
const DEADLINE_MS = 15_000;

/** Webhooks, from the commit of a change to the receiver of its event, and how many deliveries the dispatcher makes. */
export async function webhookRows(context: BenchmarkContext): Promise<BenchmarkResult> {
  const { testSystem, authority, sizes, print } = context;
  await using endpoints = await Endpoints.open(testSystem, authority, sizes.webhooks);
  const rows: ReportRow[] = [];
  const raw: unknown[] = [];
  for (const name of chosen(process.env['PARTS'])) {
    const measured = await PARTS[name](context, endpoints);
    for (const { what, ours, against, ratio } of measured.rows) print(`${what}: ${ours}; ${against} ${ratio}`);
    rows.push(...measured.rows);
    raw.push(measured.raw);
  }
  return { rows, raw };
}

const PARTS = { paces: pacedRows, rates: rateRows, neighbors: neighborRows, claims: claimRows };

function chosen(text: string | undefined): readonly (keyof typeof PARTS)[] {
  const names = Object.keys(PARTS) as (keyof typeof PARTS)[];
  return text === undefined ? names : names.filter((name) => text.split(',').includes(name));
}

interface Times {
  readonly pace: Paced;
  readonly socket: Percentiles;
  readonly webhook: Percentiles;
  readonly missing: number;
  readonly outOfOrder: number;
}

/** From commit to the first attempt, as the receiver sees it, beside commit to socket of the same changes. */
async function pacedRows(context: BenchmarkContext, endpoints: Endpoints): Promise<BenchmarkResult> {
  const served = endpoints.all.slice(0, PACED_ENDPOINTS);
  await endpoints.enableOnly(served);
  const rows: ReportRow[] = [];
  const raw: Record<string, unknown> = {};
  for (const perSecond of context.sizes.webhooks.paces) {
    const rounds: Times[] = [];
    for (let round = 0; round < context.rounds; round += 1)
      rounds.push(await measure(context, endpoints, { served, perSecond, seconds: context.seconds }));
    raw[`${perSecond}/s`] = rounds;
    const { pace, socket, webhook, missing, outOfOrder } = median(rounds, (one) => one.webhook.p99Ms);
    const isRight = pace.isKept && rounds.every((one) => one.missing + one.outOfOrder === 0);
    const ratio = webhook.p99Ms / socket.p99Ms;
    rows.push({
      what: `commit -> first attempt at ${perSecond}/s`,
      ours: `${pace.isKept ? '' : `cannot: ${number(pace.perSecond)}/s, `}${textOf(webhook)}, ${missing} missing, ${outOfOrder} out of order`,
      against: `socket ${textOf(socket)}`,
      ratio: `p50 +${ms(webhook.p50Ms - socket.p50Ms)}, p99 ${ratio.toFixed(1)}x`,
      goal: `p50 <= +${GOALS.webhookPaces.addedMsMax} ms, p99 <= ${GOALS.webhookPaces.p99RatioMax}x`,
      isReached:
        isRight &&
        webhook.p50Ms - socket.p50Ms <= GOALS.webhookPaces.addedMsMax &&
        ratio <= GOALS.webhookPaces.p99RatioMax,
    });
  }
  return { rows, raw };
}

const textOf = ({ p50Ms, p99Ms }: Percentiles): string => `p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}`;

interface Load {
  /** One endpoint for each workspace. */
  readonly served: readonly Endpoint[];
  readonly perSecond: number;
  readonly seconds: number;
}

/** Changes one workspace after the other at a fixed pace. */
async function measure(
  { testSystem, ours, sizes }: BenchmarkContext,
  endpoints: Endpoints,
  { served, perSecond, seconds }: Load,
): Promise<Times> {
  await using pool = openClients(ours.baseUrl, CONNECTIONS);
  using sockets = await subscribeAtHead(ours, 1, 'arrivals');
  const sent: Sent[] = [];
  let changes = 0;
  const change = async (): Promise<void> => {
    const { workspaceId = '' } = served[changes++ % served.length] ?? {};
    const sentMs = performance.now();
    const { modelIds } = await mutate(pool, { apiKey: ours.apiKey, workspaceId }, 1);
    sent.push({ id: modelIds[0] ?? '', sentMs, repliedMs: performance.now() });
  };
  await openLoop(perSecond, sizes.warmUpSeconds, change);
  await endpoints.take();
  sent.length = 0;
  const pace = await openLoop(perSecond, seconds, change);
  await untilReceived(sockets, changes, SILENT_MS, DEADLINE_MS);
  const arrivals = await arrivalsOf(endpoints, served, sent);
  const commits = await commitsOf(testSystem.database.url, ours, sent);
  const offsetMs = wallClockOffset();
  const atMs = new Map(arrivals.map((one) => [one.modelId, one.atMs - offsetMs]));
  const [ofSocket, ofWebhook] = [
    latencies(sent, sockets[0]?.arrivals ?? new Map(), commits),
    latencies(sent, atMs, commits),
  ];
  if (ofSocket.fromCommit === null || ofWebhook.fromCommit === null) throw new Error('there are no commit times');
  return {
    pace,
    socket: ofSocket.fromCommit,
    webhook: ofWebhook.fromCommit,
    missing: ofWebhook.missing,
    outOfOrder: outOfOrder(arrivals),
  };
}

/** Waits until every change has arrived at a receiver, or nothing more arrives. */
async function arrivalsOf(
  endpoints: Endpoints,
  served: readonly Endpoint[],
  sent: readonly Sent[],
): Promise<readonly Arrival[]> {
  const missing = new Set(sent.map(({ id }) => id));
  const ids = new Set(served.map(({ id }) => id));
  const arrivals: Arrival[] = [];
  for (let silentMs = 0; missing.size > 0 && silentMs < SILENT_MS; silentMs += 100) {
    const taken = (await endpoints.take()).filter(({ nth }) => ids.has(endpoints.all[nth]?.id ?? ''));
    for (const { modelId } of taken) missing.delete(modelId);
    arrivals.push(...taken);
    if (taken.length > 0) silentMs = 0;
    await pause(100);
  }
  return arrivals;
}

/** One healthy endpoint in each workspace, without the other nine and with them; those do not answer. */
async function neighborRows(context: BenchmarkContext, endpoints: Endpoints): Promise<BenchmarkResult> {
  const { workspaces, hangingSeconds } = context.sizes.webhooks;
  const served = endpoints.all.slice(0, workspaces);
  const load = { served, perSecond: NEIGHBORS_PER_SECOND, seconds: 2 * context.seconds };
  const healthy = served.length;
  await endpoints.enableOnly(served);
  const calm = await measure(context, endpoints, load);
  await endpoints.hangFrom(healthy);
  await endpoints.enableOnly(endpoints.all);
  const beginning = await measure(context, endpoints, { ...load, seconds: hangingSeconds });
  const hanging = await measure(context, endpoints, load);
  await endpoints.enableOnly([]);
  await endpoints.hangFrom(Infinity);
  await endpoints.database.query("delete from webhooks.deliveries where status = 'pending'");
  const ratio = hanging.webhook.p99Ms / calm.webhook.p99Ms;
  const others = endpoints.all.length - healthy;
  return {
    rows: [
      {
        what: `${healthy} healthy endpoints, ${others} hang, ${NEIGHBORS_PER_SECOND} events/s`,
        ours: `${textOf(hanging.webhook)}; in the first seconds ${textOf(beginning.webhook)}`,
        against: `without those ${others} ${textOf(calm.webhook)}`,
        ratio: `p99 ${ratio.toFixed(1)}x`,
        goal: `p99 <= ${GOALS.webhookNeighbors.p99RatioMax}x`,
        isReached: hanging.missing + hanging.outOfOrder === 0 && ratio <= GOALS.webhookNeighbors.p99RatioMax,
      },
    ],
    raw: { calm, beginning, hanging },
  };
}
