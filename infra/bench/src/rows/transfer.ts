import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { BenchmarkContext, BenchmarkResult } from '../context.ts';
import { GOALS } from '../goals.ts';
import { peakWhile } from '../memory.ts';
import { count, number, ratioText, reaches, type ReportRow } from '../report.ts';
import { ratioOf } from '../rounds.ts';
import type { Target } from '../target.ts';
import { mutate, openClients } from '../traffic.ts';
import { load } from './bootstrap.ts';

const PROGRAM = join(import.meta.dirname, '../../../../packages/cli/src/main.ts');
/** As many changes as a request of an import has. */
const BATCH = 100;

/**
 * `wts export` of a workspace, compared with one client that reads the same snapshot, and `wts import` of it, compared with one client that
 * sends new tasks in requests of the same size, before and after it. Each is the whole program: its start, its sorting, its final check.
 */
export async function transferRows({ ours, seconds, sizes, print }: BenchmarkContext): Promise<BenchmarkResult> {
  const { transferTasks: tasks, bootstrapMs: forMs } = sizes;
  await ours.seedTasks(tasks);
  using made = mkdtempDisposableSync(join(tmpdir(), 'wts-bench-'));
  const to = join(made.path, 'export');
  const read = await load(ours, 1, { rowsMin: tasks, forMs });
  const exported = await runProgram(ours, ['export', ours.workspaceId, '--to', to], tasks);
  print(`export: ${textOf(exported)}`);
  const before = await changesPerSecond(ours, seconds);
  const urlKey = `bench-${randomUUID().slice(0, 8)}`;
  const imported = await runProgram(ours, ['import', to, '--new', 'Imported', '--key', urlKey], tasks);
  print(`import: ${textOf(imported)}`);
  const changes = [before, await changesPerSecond(ours, seconds)];
  const rows = [
    rowOf(exported, {
      what: `wts export of ${count(tasks)} tasks`,
      against: `one client that reads the snapshot ${number(read.perSecond)} rows/s`,
      ratio: ratioOf([exported.perSecond], [read.perSecond]),
      goal: GOALS.export,
    }),
    rowOf(imported, {
      what: `wts import of ${count(tasks)} tasks`,
      against: `one client, ${BATCH} changes a request ${number(Math.max(...changes))}/s`,
      ratio: ratioOf([imported.perSecond], [Math.max(...changes)]),
      goal: GOALS.import,
    }),
  ];
  return { rows, raw: { exported, imported, read, changes } };
}

interface ProgramRun {
  readonly perSecond: number;
  readonly peakMb: number;
}

const textOf = ({ perSecond, peakMb }: ProgramRun): string => `${number(perSecond)} tasks/s, ${number(peakMb)} MB`;

function rowOf(
  run: ProgramRun,
  {
    what,
    against,
    ratio,
    goal: { ratioMin, residentMbMax },
  }: Pick<ReportRow, 'what' | 'against'> & {
    readonly ratio: ReturnType<typeof ratioOf>;
    readonly goal: { readonly ratioMin: number; readonly residentMbMax: number };
  },
): ReportRow {
  return {
    what,
    ours: textOf(run),
    against,
    ratio: ratioText(ratio, 2),
    goal: `>= ${ratioMin}x, <= ${residentMbMax} MB`,
    isReached: reaches(ratio, ratioMin) === true && run.peakMb <= residentMbMax,
  };
}

async function runProgram(target: Target, argv: readonly string[], tasks: number): Promise<ProgramRun> {
  const env = { ...process.env, WTS_URL: target.baseUrl, WTS_TOKEN: target.apiKey };
  const startedMs = performance.now();
  const child = spawn(process.execPath, [PROGRAM, ...argv], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const said = text(child.stderr);
  const { result, peakMb } = await peakWhile([{ name: 'wts', pid: child.pid ?? 0, log: '' }], async () => {
    const [code] = (await once(child, 'exit')) as [number | null];
    return { code, ms: performance.now() - startedMs };
  });
  if (result.code !== 0) throw new Error(`wts ${argv[0]} ended with ${result.code}: ${await said}`);
  return { perSecond: (tasks * 1000) / result.ms, peakMb };
}

async function changesPerSecond(target: Target, seconds: number): Promise<number> {
  await using pool = openClients(target.baseUrl, 1);
  const startedMs = performance.now();
  let changes = 0;
  do {
    await mutate(pool, target, BATCH);
    changes += BATCH;
  } while (performance.now() - startedMs < seconds * 1000);
  return (changes * 1000) / (performance.now() - startedMs);
}
