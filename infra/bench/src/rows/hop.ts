import { mintInternalToken } from '@wts/access';
import { HEADERS } from '@wts/contracts';
import type { World } from '@wts/testkit';
import type { Pool } from 'undici';
import { closedLoop, median, type Measured } from '../load.ts';
import type { Row } from '../report.ts';
import { ms, number } from '../report.ts';
import { openClients } from '../traffic.ts';

/** What going through the gateway costs: the same read, straight at the sync service and through the public door. */
export async function hopRows(world: World, rounds: number, seconds: number): Promise<Row[]> {
  const token = mintInternalToken(
    { userId: world.userId, scopes: ['read'], credential: { kind: 'api_key', id: 'bench' } },
    world.internalTokenSecret,
  );
  const routes = {
    direct: { origin: world.service('sync').url, headers: { [HEADERS.principal]: token } },
    gateway: { origin: world.baseUrl, headers: { authorization: `Bearer ${world.apiKey}` } },
  };
  const measure = async (route: keyof typeof routes, clients: number): Promise<Measured> => {
    const { origin, headers } = routes[route];
    const pool = openClients(origin, clients);
    try {
      await closedLoop(clients, 0.5, () => read(pool, headers));
      return await closedLoop(clients, seconds, () => read(pool, headers));
    } finally {
      await pool.close();
    }
  };
  const alone: { direct: Measured; gateway: Measured }[] = [];
  const many: { direct: Measured; gateway: Measured }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    alone.push({ direct: await measure('direct', 1), gateway: await measure('gateway', 1) });
    many.push({ direct: await measure('direct', 32), gateway: await measure('gateway', 32) });
  }
  const one = median(alone, ({ direct, gateway }) => gateway.p50Ms - direct.p50Ms);
  const full = median(many, ({ direct, gateway }) => gateway.perSecond / direct.perSecond);
  const addedMs = one.gateway.p50Ms - one.direct.p50Ms;
  const share = full.gateway.perSecond / full.direct.perSecond;
  return [
    {
      what: 'gateway hop, one client',
      ours: `p50 ${ms(one.gateway.p50Ms)}`,
      against: `direct p50 ${ms(one.direct.p50Ms)}`,
      ratio: `+${ms(addedMs)}`,
      goal: '<= 0.70 ms added',
      isReached: addedMs <= 0.7,
    },
    {
      what: 'gateway hop, 32 clients',
      ours: `${number(full.gateway.perSecond)}/s`,
      against: `direct ${number(full.direct.perSecond)}/s`,
      ratio: share.toFixed(2),
      goal: '>= 0.60 of direct',
      isReached: share >= 0.6,
    },
  ];
}

async function read(pool: Pool, headers: Record<string, string>): Promise<number> {
  const { statusCode, body } = await pool.request({ method: 'GET', path: '/sync/deltas?after=1&limit=1', headers });
  await body.dump();
  if (statusCode !== 200) throw new Error(`a read was answered ${statusCode}`);
  return 1;
}
