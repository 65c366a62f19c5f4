import { residentOf, type Door } from '../door.ts';
import { median } from '../load.ts';
import { number, type Row } from '../report.ts';
import { mutate, openClients } from '../traffic.ts';

const SHAPES = [
  { atOnce: 1, ratioMin: 4 },
  { atOnce: 10, ratioMin: 5 },
] as const;

/**
 * Rows a second of a whole workspace: one client, and ten at once. A change before each round sees to it that no snapshot of
 * the round before serves; ten at once may share one, as they do in a real herd.
 */
export async function bootstrapRows(ours: Door, peer: Door | null, tasks: number, rounds: number): Promise<Row[]> {
  await ours.seedTasks(tasks);
  await peer?.seedTasks(tasks);
  const rows: Row[] = [];
  for (const { atOnce, ratioMin } of SHAPES) {
    const [us, them] = [[], []] as [Loaded[], Loaded[]];
    await load(ours, 1);
    for (let round = 0; round < rounds; round += 1) {
      us.push(await load(ours, atOnce));
      if (peer !== null) them.push(await load(peer, atOnce));
    }
    const our = median(us, ({ perSecond }) => perSecond);
    const their = peer === null ? null : median(them, ({ perSecond }) => perSecond);
    const ratio = their === null ? null : our.perSecond / their.perSecond;
    rows.push({
      what: `bootstrap, ${atOnce === 1 ? 'one' : 'ten'} at once (${number(our.rows / atOnce)} rows)`,
      ours: `${number(our.perSecond)} rows/s, +${number(our.grownMb)} MB`,
      against: their === null ? '' : `${peer?.name} ${number(their.perSecond)} rows/s, +${number(their.grownMb)} MB`,
      ratio: ratio === null ? '' : ratio.toFixed(1),
      goal: `>= ${ratioMin}x`,
      isReached: ratio === null ? null : ratio >= ratioMin,
    });
  }
  return rows;
}

interface Loaded {
  readonly rows: number;
  readonly perSecond: number;
  readonly grownMb: number;
}

export async function load(door: Door, atOnce: number): Promise<Loaded> {
  const pool = openClients(door.baseUrl, atOnce);
  await mutate(pool, door, 1);
  const before = await residentOf(door.pid());
  const startedMs = performance.now();
  try {
    const counts = await Promise.all(Array.from({ length: atOnce }, () => rowsOf(pool, door)));
    const seconds = (performance.now() - startedMs) / 1000;
    const rows = counts.reduce((sum, count) => sum + count, 0);
    return { rows, perSecond: rows / seconds, grownMb: Math.max(0, (await residentOf(door.pid())) - before) };
  } finally {
    await pool.close();
  }
}

async function rowsOf(pool: ReturnType<typeof openClients>, { apiKey }: Door): Promise<number> {
  const { statusCode, body } = await pool.request({
    method: 'GET',
    path: '/sync/bootstrap?onlyModels=Task',
    headers: { authorization: `Bearer ${apiKey}` },
  });
  let lines = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
  }
  if (statusCode !== 200) throw new Error(`a bootstrap was answered ${statusCode}`);
  return lines - 1;
}
