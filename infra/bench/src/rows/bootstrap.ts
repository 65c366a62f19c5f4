import type { Target } from '../target.ts';
import { peakWhile, type Peak } from '../memory.ts';
import type { Row } from '../report.ts';
import { count, number, ratioText, reaches } from '../report.ts';
import { inTurns, median, ratioOf } from '../rounds.ts';
import type { Findings, Scene } from '../scene.ts';
import { mutate, openClients } from '../traffic.ts';

const TASKS = 50_000;
const SHAPES = [
  { atOnce: 1, ratioMin: 4 },
  { atOnce: 10, ratioMin: 5 },
] as const;
const MOMENT_MS = 1_000;
const MARK = Buffer.from('{"__class":"Task"');

/**
 * Rows a second of a whole workspace: one client, and ten at once. A change before each round sees to it that no snapshot of
 * the round before serves; ten at once may share one, as they do in a reconnect storm.
 */
export async function bootstrapRows({ ours, peer, rounds, say }: Scene): Promise<Findings> {
  for (const target of peer === null ? [ours] : [ours, peer]) {
    await target.seedTasks(TASKS);
    await load(target, 1, TASKS);
    say(`${target.name} has ${count(TASKS)} tasks`);
  }
  const rows: Row[] = [];
  const raw: Record<string, unknown> = {};
  for (const { atOnce, ratioMin } of SHAPES) {
    const measured = await inTurns<'ours' | 'peer', Loaded>(rounds, {
      ours: () => load(ours, atOnce, TASKS),
      peer: peer === null ? undefined : () => load(peer, atOnce, TASKS),
    });
    const what = `bootstrap of ${count(TASKS)} tasks, ${atOnce === 1 ? 'one' : 'ten'} at once`;
    raw[what] = measured;
    const ratio = ratioOf(measured.ours.map(rate), measured.peer.map(rate));
    rows.push({
      what,
      ours: words(measured.ours),
      against: peer === null ? '' : `${peer.name} ${words(measured.peer)}`,
      ratio: ratioText(ratio),
      goal: `>= ${ratioMin}x`,
      isReached: reaches(ratio, ratioMin),
    });
    say(`${what}: ${rows.at(-1)?.ours}; ${rows.at(-1)?.against}`);
  }
  return { rows, raw };
}

export interface Loaded extends Peak {
  readonly perSecond: number;
  readonly bytesPerRow: number;
}

const rate = ({ perSecond }: Loaded): number => perSecond;
const words = (all: readonly Loaded[]): string =>
  `${number(median(all, rate).perSecond)} rows/s, +${number(median(all, ({ grownMb }) => grownMb).grownMb)} MB`;

/**
 * Everything, `atOnce` times at once, as often as fills a moment: a single answer may be too quick to be timed. Whoever is
 * told fewer rows than there are is not quick but wrong.
 */
export async function load(target: Target, atOnce: number, rowsMin: number): Promise<Loaded> {
  const pool = openClients(target.baseUrl, atOnce);
  let [rows, bytes, ms] = [0, 0, 0];
  try {
    const { result: _, ...peak } = await peakWhile(target.parts(), async () => {
      while (ms < MOMENT_MS) {
        await mutate(pool, target, 1);
        const startedMs = performance.now();
        const answers = await Promise.all(Array.from({ length: atOnce }, () => readAll(pool, target)));
        ms += performance.now() - startedMs;
        for (const answer of answers) {
          if (answer.rows < rowsMin) throw new Error(`${target.name} sent ${answer.rows} tasks of at least ${rowsMin}`);
          rows += answer.rows;
          bytes += answer.bytes;
        }
      }
    });
    return { perSecond: (rows * 1000) / ms, bytesPerRow: bytes / rows, ...peak };
  } finally {
    await pool.close();
  }
}

interface Counted {
  readonly rows: number;
  readonly bytes: number;
}

async function readAll(pool: ReturnType<typeof openClients>, { apiKey }: Target): Promise<Counted> {
  const { statusCode, body } = await pool.request({
    method: 'GET',
    path: '/sync/bootstrap?onlyModels=Task',
    headers: { authorization: `Bearer ${apiKey}` },
  });
  const counter = new RowCounter();
  for await (const chunk of body as AsyncIterable<Buffer>) counter.take(chunk);
  if (statusCode !== 200) throw new Error(`a bootstrap was answered ${statusCode}`);
  return counter;
}

/** Counts lines that are tasks; a line may come in two pieces. */
export class RowCounter implements Counted {
  rows = 0;
  bytes = 0;
  #rest: Buffer = Buffer.alloc(0);

  take(chunk: Buffer): void {
    this.bytes += chunk.length;
    const seam = Buffer.concat([this.#rest, chunk.subarray(0, MARK.length - 1)]);
    if (seam.indexOf(MARK) >= 0) this.rows += 1;
    for (let at = chunk.indexOf(MARK); at >= 0; at = chunk.indexOf(MARK, at + MARK.length)) this.rows += 1;
    const all = chunk.length >= MARK.length - 1 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = all.subarray(Math.max(0, all.length - MARK.length + 1));
  }
}
