import type { Pool } from 'undici';
import { GOALS } from '../goals.ts';
import { closedLoop, type Measured } from '../load.ts';
import type { BenchmarkResult, BenchmarkContext } from '../context.ts';
import { ms, number } from '../report.ts';
import { alternate, median } from '../rounds.ts';
import { headersOfGateway } from '../target.ts';
import { openClients } from '../traffic.ts';

const MANY = 32;

interface Pair {
  readonly direct: Measured;
  readonly gateway: Measured;
}

/** The cost of the gateway: the same read directly at the sync service and through the gateway. */
export async function hopRows({ testSystem, rounds, seconds, sizes }: BenchmarkContext): Promise<BenchmarkResult> {
  const routes = {
    direct: { origin: testSystem.service('sync').url, headers: headersOfGateway(testSystem, 'sync')() },
    gateway: { origin: testSystem.baseUrl, headers: { authorization: `Bearer ${testSystem.apiKey}` } },
  };
  const measure = async (route: keyof typeof routes, clients: number): Promise<Measured> => {
    const { origin, headers } = routes[route];
    await readLoop(origin, headers, { clients, seconds: sizes.warmUpSeconds });
    return readLoop(origin, headers, { clients, seconds });
  };
  const pairs = async (clients: number): Promise<readonly Pair[]> => {
    const { direct, gateway } = await alternate<'direct' | 'gateway', Measured>(rounds, {
      direct: () => measure('direct', clients),
      gateway: () => measure('gateway', clients),
    });
    return direct.flatMap((one, round) =>
      gateway[round] === undefined ? [] : [{ direct: one, gateway: gateway[round] }],
    );
  };
  const alone = await pairs(1);
  const many = await pairs(MANY);
  const added = ({ direct, gateway }: Pair): number => gateway.p50Ms - direct.p50Ms;
  const share = ({ direct, gateway }: Pair): number => gateway.perSecond / direct.perSecond;
  const [one, full] = [median(alone, added), median(many, share)];
  return {
    rows: [
      {
        what: 'gateway hop, one client',
        ours: `p50 ${ms(one.gateway.p50Ms)}`,
        against: `without it p50 ${ms(one.direct.p50Ms)}`,
        ratio: `+${ms(added(one))}`,
        goal: `<= ${ms(GOALS.hop.addedMsMax)} added`,
        isReached: added(one) <= GOALS.hop.addedMsMax,
      },
      {
        what: `gateway hop, ${MANY} clients`,
        ours: `${number(full.gateway.perSecond)}/s`,
        against: `without it ${number(full.direct.perSecond)}/s`,
        ratio: `${share(full).toFixed(2)}x`,
        goal: `>= ${GOALS.hop.shareMin.toFixed(2)}x`,
        isReached: share(full) >= GOALS.hop.shareMin,
      },
    ],
    raw: { alone, many },
  };
}

/** Reads of one entry. */
export async function readLoop(
  origin: string,
  headers: Record<string, string>,
  { clients, seconds }: { readonly clients: number; readonly seconds: number },
): Promise<Measured> {
  await using pool = openClients(origin, clients);
  return await closedLoop(clients, seconds, () => read(pool, headers));
}

async function read(pool: Pool, headers: Record<string, string>): Promise<number> {
  const { statusCode, body } = await pool.request({ method: 'GET', path: '/sync/deltas?after=1&limit=1', headers });
  await body.dump();
  if (statusCode !== 200) throw new Error(`a read got status ${statusCode}`);
  return 1;
}
