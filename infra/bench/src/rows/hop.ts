import { tokenMinter } from '@wts/access';
import { HEADERS } from '@wts/contracts';
import type { Pool } from 'undici';
import { closedLoop, type Measured } from '../load.ts';
import type { BenchmarkResult, BenchmarkContext } from '../context.ts';
import { ms, number } from '../report.ts';
import { alternate, median } from '../rounds.ts';
import { openClients } from '../traffic.ts';

const MANY = 32;
const WARM_UP_SECONDS = 0.5;
const ADDED_MS_MAX = 0.7;
const SHARE_MIN = 0.6;

interface Pair {
  readonly direct: Measured;
  readonly gateway: Measured;
}

/** The cost of the gateway: the same read directly at the sync service and through the gateway. */
export async function hopRows({ testSystem, rounds, seconds }: BenchmarkContext): Promise<BenchmarkResult> {
  const token = tokenMinter({ from: 'gateway', to: 'sync', secret: testSystem.internalTokenSecret })({
    userId: testSystem.userId,
    scopes: ['read'],
    credential: { kind: 'api_key', id: 'bench' },
  });
  const routes = {
    direct: { origin: testSystem.service('sync').url, headers: { [HEADERS.principal]: token } },
    gateway: { origin: testSystem.baseUrl, headers: { authorization: `Bearer ${testSystem.apiKey}` } },
  };
  const measure = async (route: keyof typeof routes, clients: number): Promise<Measured> => {
    const { origin, headers } = routes[route];
    const pool = openClients(origin, clients);
    try {
      await closedLoop(clients, WARM_UP_SECONDS, () => read(pool, headers));
      return await closedLoop(clients, seconds, () => read(pool, headers));
    } finally {
      await pool.close();
    }
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
        goal: `<= ${ms(ADDED_MS_MAX)} added`,
        isReached: added(one) <= ADDED_MS_MAX,
      },
      {
        what: `gateway hop, ${MANY} clients`,
        ours: `${number(full.gateway.perSecond)}/s`,
        against: `without it ${number(full.direct.perSecond)}/s`,
        ratio: `${share(full).toFixed(2)}x`,
        goal: `>= ${SHARE_MIN.toFixed(2)}x`,
        isReached: share(full) >= SHARE_MIN,
      },
    ],
    raw: { alone, many },
  };
}

async function read(pool: Pool, headers: Record<string, string>): Promise<number> {
  const { statusCode, body } = await pool.request({ method: 'GET', path: '/sync/deltas?after=1&limit=1', headers });
  await body.dump();
  if (statusCode !== 200) throw new Error(`a read got status ${statusCode}`);
  return 1;
}
