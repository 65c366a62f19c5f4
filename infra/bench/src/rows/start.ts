import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { BenchmarkContext, BenchmarkResult } from '../context.ts';
import { GOALS } from '../goals.ts';
import { atMost, ms } from '../report.ts';
import { alternate, median, ratioOf } from '../rounds.ts';

const CLI = join(import.meta.dirname, '../../../../packages/cli');
/** At its end the process says how much of a processor it used. */
const REPORT_CPU = `data:text/javascript,process.on('exit',()=>process.stderr.write(JSON.stringify(process.cpuUsage())))`;

interface Start {
  readonly firstByteMs: number;
  readonly cpuMs: number;
}

/** The time until the first byte of `wts --help`, as the published package runs it, compared with a script that only writes a byte. */
export async function startRows({ rounds, sizes }: BenchmarkContext): Promise<BenchmarkResult> {
  using made = mkdtempDisposableSync(join(tmpdir(), 'wts-bench-'));
  const folder = made.path;
  execFileSync(process.execPath, [join(CLI, 'build.ts'), join(folder, 'built')]);
  const empty = join(folder, 'empty.mjs');
  writeFileSync(empty, "process.stdout.write('\\n');\n");
  const help = [join(folder, 'built/wts.mjs'), '--help'];
  // The first start writes the cache of compiled code.
  await startOf(help, folder);
  const { ours, theirs } = await alternate(rounds * sizes.starts, {
    ours: () => startOf(help, folder),
    theirs: () => startOf([empty], folder),
  });
  const rowOf = (what: string, of: (start: Start) => number, ratioMax: number) => {
    const ratio = ratioOf([of(median(ours, of))], [of(median(theirs, of))]);
    return {
      what,
      ours: ms(of(median(ours, of))),
      against: `a script that writes a byte ${ms(of(median(theirs, of)))}`,
      ...atMost(ratio, ratioMax, 2),
    };
  };
  const { firstByteRatioMax, cpuRatioMax } = GOALS.start;
  return {
    rows: [
      rowOf('wts --help, until the first byte', ({ firstByteMs }) => firstByteMs, firstByteRatioMax),
      rowOf('wts --help, CPU', ({ cpuMs }) => cpuMs, cpuRatioMax),
    ],
    raw: { ours, theirs },
  };
}

async function startOf(args: readonly string[], folder: string): Promise<Start> {
  const env = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: join(folder, 'compiled') };
  const since = performance.now();
  const child = spawn(process.execPath, ['--import', REPORT_CPU, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const report = text(child.stderr);
  await once(child.stdout, 'data');
  const firstByteMs = performance.now() - since;
  child.stdout.resume();
  await once(child, 'close');
  const { user, system } = JSON.parse(await report) as { user: number; system: number };
  return { firstByteMs, cpuMs: (user + system) / 1000 };
}
