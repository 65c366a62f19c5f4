import { GOALS } from '../goals.ts';
import { closedLoop, type Measured } from '../load.ts';
import type { Target } from '../target.ts';
import type { BenchmarkResult, BenchmarkContext } from '../context.ts';
import { atLeast, ms, number, type ReportRow } from '../report.ts';
import { alternate, median, ratioOf } from '../rounds.ts';
import { mutate, openClients } from '../traffic.ts';
import { bareLoop } from './bare-loop.ts';

interface Shape {
  readonly clients: number;
  readonly batch: number;
  readonly goal: { readonly peerRatioMin: number; readonly bareShareMin: number };
}

const SHAPES: readonly Shape[] = [
  { clients: 16, batch: 1, goal: GOALS.mutate16x1 },
  { clients: 8, batch: 50, goal: GOALS.mutate8x50 },
];

const rate = ({ perSecond }: Measured): number => perSecond;

/**
 * Accepted changes per second through the gateway, compared with the peer and with the limit of PostgreSQL.
 */
export async function mutateRows(context: BenchmarkContext): Promise<BenchmarkResult> {
  const { testSystem, ours, peer, rounds, seconds, sizes, print } = context;
  const rows: ReportRow[] = [];
  const raw: Record<string, unknown> = {};
  for (const { clients, batch, goal } of SHAPES) {
    for (const target of peer === null ? [ours] : [ours, peer])
      await writeLoop(target, clients, batch, sizes.warmUpSeconds);
    const measured = await alternate<'ours' | 'peer' | 'bare', Measured>(rounds, {
      ours: () => writeLoop(ours, clients, batch, seconds),
      peer: peer === null ? undefined : () => writeLoop(peer, clients, batch, seconds),
      bare: () => bareLoop(testSystem, ours, { clients, batch, seconds }),
    });
    const what = `mutate ${clients}x${batch}`;
    raw[what] = measured;
    const us = median(measured.ours, rate);
    const ratio = ratioOf(measured.ours.map(rate), measured.peer.map(rate));
    rows.push({
      what,
      ours: `${number(us.perSecond)}/s, p50 ${ms(us.p50Ms)}, p99 ${ms(us.p99Ms)}`,
      against: peer === null ? '' : textOf(peer, median(measured.peer, rate)),
      ...atLeast(ratio, goal.peerRatioMin),
    });
    const share = ratioOf(measured.ours.map(rate), measured.bare.map(rate));
    rows.push({
      what: `${what}, share of a bare PostgreSQL loop`,
      ours: `${number(us.perSecond)}/s`,
      against: `bare loop ${number(median(measured.bare, rate).perSecond)}/s`,
      ...atLeast(share, goal.bareShareMin, 2),
    });
    print(`${what}: ${rows.at(-2)?.ours}; ${rows.at(-2)?.against}`);
  }
  return { rows, raw };
}

const textOf = ({ name }: Target, { perSecond, p50Ms }: Measured): string =>
  `${name} ${number(perSecond)}/s, p50 ${ms(p50Ms)}`;

export async function writeLoop(target: Target, clients: number, batch: number, seconds: number): Promise<Measured> {
  await using pool = openClients(target.baseUrl, clients);
  return await closedLoop(clients, seconds, async () => (await mutate(pool, target, batch)).results.length);
}
