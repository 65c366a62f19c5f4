import type { Target } from '../target.ts';
import { GOALS } from '../goals.ts';
import { peakWhile, type Peak } from '../memory.ts';
import { atLeast, count, number, type ReportRow } from '../report.ts';
import { alternateWithPeer, median, ratioOf } from '../rounds.ts';
import type { BenchmarkResult, BenchmarkContext } from '../context.ts';
import { mutate, openClients } from '../traffic.ts';

const SHAPES = [
  { clients: 1, goal: GOALS.bootstrapOne },
  { clients: 10, goal: GOALS.bootstrapTen },
] as const;
const MARK = Buffer.from('{"__class":"Task"');

/**
 * Rows per second when clients load a whole workspace: one client, and ten in parallel. A change before each round prevents
 * the reuse of an earlier snapshot; ten parallel clients may share one, as they do after a restart of the server.
 */
export async function bootstrapRows(context: BenchmarkContext): Promise<BenchmarkResult> {
  const { ours, peer, rounds, sizes, print } = context;
  const { bootstrapTasks: tasks, bootstrapMs: forMs } = sizes;
  for (const target of peer === null ? [ours] : [ours, peer]) {
    await target.seedTasks(tasks);
    await load(target, 1, { rowsMin: tasks, forMs });
    print(`${target.name} has ${count(tasks)} tasks`);
  }
  const rows: ReportRow[] = [];
  const raw: Record<string, unknown> = {};
  for (const { clients, goal } of SHAPES) {
    const measured = await alternateWithPeer(rounds, context, (target) =>
      load(target, clients, { rowsMin: tasks, forMs }),
    );
    const what = `bootstrap of ${count(tasks)} tasks, ${clients === 1 ? 'one client' : 'ten clients'}`;
    raw[what] = measured;
    const ratio = ratioOf(measured.ours.map(rate), measured.peer.map(rate));
    rows.push({
      what,
      ours: textOf(measured.ours),
      against: peer === null ? '' : `${peer.name} ${textOf(measured.peer)}`,
      ...atLeast(ratio, goal.ratioMin),
    });
    print(`${what}: ${rows.at(-1)?.ours}; ${rows.at(-1)?.against}`);
  }
  return { rows, raw };
}

export interface Loaded extends Peak {
  readonly perSecond: number;
  readonly bytesPerRow: number;
}

const rate = ({ perSecond }: Loaded): number => perSecond;
const textOf = (all: readonly Loaded[]): string =>
  `${number(median(all, rate).perSecond)} rows/s, +${number(median(all, ({ grownMb }) => grownMb).grownMb)} MB`;

/**
 * Loads everything with `clients` in parallel, repeatedly.
 * Throws when a response has fewer rows than the workspace.
 */
export async function load(
  target: Target,
  clients: number,
  { rowsMin, forMs }: { readonly rowsMin: number; readonly forMs: number },
): Promise<Loaded> {
  await using pool = openClients(target.baseUrl, clients);
  let [rows, bytes, ms] = [0, 0, 0];
  const { result: _, ...peak } = await peakWhile(target.processes(), async () => {
    while (ms < forMs) {
      await mutate(pool, target, 1);
      const startedMs = performance.now();
      const responses = await Promise.all(Array.from({ length: clients }, () => readAll(pool, target)));
      ms += performance.now() - startedMs;
      for (const response of responses) {
        if (response.rows < rowsMin) throw new Error(`${target.name} sent ${response.rows} of ${rowsMin} tasks`);
        rows += response.rows;
        bytes += response.bytes;
      }
    }
  });
  return { perSecond: (rows * 1000) / ms, bytesPerRow: bytes / rows, ...peak };
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
  if (statusCode !== 200) throw new Error(`a bootstrap got status ${statusCode}`);
  return counter;
}

/** Counts the lines of tasks; a line may be split between two chunks. */
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
