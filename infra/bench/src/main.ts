/**
 * `npm run bench`: starts systems on this machine, measures them with one load generator, and compares each figure with a limit
 * or a peer measured in the same rounds. `npm run bench -- --help` prints the options.
 */
import { printWithClock as print, readOptions, runTask, UserError } from '@wts/local';
import { setTimeout as pause } from 'node:timers/promises';
import { compareWith } from './against/compare.ts';
import { OtherProcesses } from './cpu.ts';
import { commitLine, machineLine } from './machine.ts';
import { BENCHMARK_NAMES, BENCHMARKS, type Benchmark, type BenchmarkName } from './benchmarks.ts';
import { PEER_VERSIONS } from './peer.ts';
import { percent, table } from './report.ts';
import { keep, QUIET_SHARE_MAX, type KeptResult } from './results.ts';
import type { BenchmarkResult, BenchmarkContext } from './context.ts';
import { FULL, QUICK, type Sizes } from './sizes.ts';
import { openSystem, type MeasuredSystem } from './system.ts';

const USAGE = `npm run bench [-- options]

  --peer         also measure Strata's server; the first time this installs it
  --full         use the largest sizes and longer rounds, and keep the results in infra/bench/results
  --keep         keep the results of a shorter run
  --only A,B     run only these benchmarks: ${BENCHMARK_NAMES.join(', ')}
  --against C    start this working copy and commit C beside each other, and compare them by turns
  --rounds N     number of rounds, default 3; the middle one counts
  --seconds N    length of a round, default 3, with --full 5
  --help         print this text

Kept results replace earlier results of the same benchmarks only.`;

/** A benchmark that takes so many times as long as expected hangs. */
const TIMEOUT_FACTOR = 4;
const TIMEOUT_SECONDS_MIN = 240;
const IDLE_CHECK_MS = 2_000;

interface Options {
  readonly names: readonly BenchmarkName[];
  readonly withPeer: boolean;
  /** Another commit to compare with. */
  readonly against: string | null;
  readonly isFull: boolean;
  readonly keeps: boolean;
  readonly rounds: number;
  readonly seconds: number;
}

await runTask(async (stack) => {
  const options = checkedOptions();
  if (options === null) return 0;
  if (options.against !== null)
    return compareWith(stack, options.against, { ...options, sizes: sizesOf(options), print });
  await printHeader(options);
  const measured: Record<string, KeptResult> = {};
  const left = [...options.names];
  stack.defer(() => {
    if (left.length > 0) console.log(`\n${left.length} benchmarks are left. To run them: ${commandOf(options, left)}`);
  });
  const failed: BenchmarkName[] = [];
  for (const name of options.names) {
    const result = await runBenchmark(stack, name, options);
    // The user stopped the run, which closed the system.
    if (stack.disposed) return 1;
    if (result === null) failed.push(name);
    else {
      measured[name] = result;
      if (options.keeps) await keep({ [name]: result }, BENCHMARK_NAMES);
      left.splice(left.indexOf(name), 1);
    }
  }
  const rows = Object.values(measured).flatMap((part) => part.rows);
  if (rows.length > 0) console.log(`\n${table(rows)}\n`);
  if (options.keeps) console.log(`The results are in ${await keep({}, BENCHMARK_NAMES)}`);
  return failed.length === 0 ? 0 : 1;
});

function checkedOptions(): Options | null {
  const values = readOptions(USAGE, {
    only: { type: 'string', default: BENCHMARK_NAMES.join(',') },
    peer: { type: 'boolean', default: false },
    against: { type: 'string' },
    full: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string' },
  });
  if (values === null) return null;
  const wanted = values.only.split(',').map((name) => name.trim());
  const unknown = wanted.filter((name) => !(BENCHMARK_NAMES as readonly string[]).includes(name));
  if (unknown.length > 0)
    throw new UserError(`There is no benchmark ${unknown.join(', ')}. Choose from ${BENCHMARK_NAMES.join(', ')}.`);
  const { peer, full, keep: keeps } = values;
  if (values.against !== undefined && (peer || full || keeps))
    throw new UserError('--against compares two commits only. Leave out --peer, --full and --keep.');
  return {
    names: BENCHMARK_NAMES.filter((name) => wanted.includes(name)),
    withPeer: peer,
    against: values.against ?? null,
    isFull: full,
    keeps: full || keeps,
    rounds: wholeNumber('rounds', values.rounds),
    seconds: wholeNumber('seconds', values.seconds ?? (full ? '5' : '3')),
  };
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 60) return value;
  throw new UserError(`--${name} must be a whole number from 1 to 60, not "${text}".`);
}

async function printHeader(options: Options): Promise<void> {
  const others = new OtherProcesses();
  await pause(IDLE_CHECK_MS);
  const share = others.share();
  const seconds = options.names.reduce((sum, name) => sum + secondsOf(name, options), 0);
  console.log(`${machineLine()}, Node ${process.versions.node}`);
  console.log(
    `${options.names.length} benchmarks, about ${Math.ceil(seconds / 60)} min. CPU used by other programs now: ${percent(share)}`,
  );
  if ((share ?? 0) > QUIET_SHARE_MAX)
    console.log('Other programs use the CPU: ratios may be reliable, single figures are not.');
}

function sizesOf({ isFull }: Options): Sizes {
  return isFull ? FULL : QUICK;
}

function secondsOf(name: BenchmarkName, { isFull }: Options): number {
  const { seconds, secondsFull } = BENCHMARKS[name];
  return isFull ? secondsFull : seconds;
}

/** Resolves to null when it failed; it prints the error, and the other benchmarks still run. */
async function runBenchmark(
  stack: AsyncDisposableStack,
  name: BenchmarkName,
  options: Options,
): Promise<KeptResult | null> {
  const { measure, start }: Benchmark = BENCHMARKS[name];
  const { names, withPeer, rounds, seconds } = options;
  print(`${name} (${names.indexOf(name) + 1} of ${names.length}), about ${secondsOf(name, options)} s`);
  const startedMs = performance.now();
  const others = new OtherProcesses();
  try {
    // Closed below, or when the user stops the run.
    const system = stack.use(await openSystem(withPeer, start));
    try {
      const { testSystem, ours, peer, authority } = system;
      const versions = await versionsOf(system);
      const context: BenchmarkContext = {
        testSystem,
        ours,
        peer,
        authority,
        rounds,
        seconds,
        sizes: sizesOf(options),
        openOther: async (settings) => stack.use(await openSystem(false, { ...start, settings })),
        print: (text) => print(`  ${text}`),
      };
      const result = await withTimeout(
        measure(context),
        Math.max(TIMEOUT_SECONDS_MIN, secondsOf(name, options) * TIMEOUT_FACTOR),
      );
      const tookSeconds = (performance.now() - startedMs) / 1000;
      const othersShare = others.share();
      print(`  done in ${Math.round(tookSeconds)} s; CPU used by other programs: ${percent(othersShare)}`);
      return {
        at: new Date().toISOString(),
        command: commandOf(options),
        machine: machineLine(),
        versions,
        commit: commitLine(),
        rounds,
        seconds,
        tookSeconds,
        othersShare,
        ...result,
      };
    } finally {
      await system[Symbol.asyncDispose]();
    }
  } catch (error) {
    if (stack.disposed) return null;
    print(`  ${name} failed:`);
    console.error(error);
    return null;
  }
}

async function withTimeout(measuring: Promise<BenchmarkResult>, seconds: number): Promise<BenchmarkResult> {
  const over = new AbortController();
  const late = pause(seconds * 1000, null, { signal: over.signal }).catch(() => null);
  try {
    const result = await Promise.race([measuring, late]);
    if (result === null) throw new Error(`it did not finish in ${seconds} s`);
    return result;
  } finally {
    over.abort();
    // A benchmark that still runs fails when its system is closed.
    measuring.catch(() => undefined);
  }
}

async function versionsOf({ testSystem, peer }: MeasuredSystem): Promise<string> {
  const { postgres, nats } = testSystem;
  const own = [`Node ${process.versions.node}`, `PostgreSQL ${postgres.version}`, `NATS ${nats.version}`];
  return [...own, ...(peer === null ? [] : [PEER_VERSIONS])].join(', ');
}

function commandOf({ names, withPeer, isFull, keeps, rounds, seconds }: Options, only = names): string {
  const flags = [
    ...(withPeer ? ['--peer'] : []),
    ...(isFull ? ['--full'] : []),
    ...(keeps && !isFull ? ['--keep'] : []),
    ...(only.length === BENCHMARK_NAMES.length ? [] : [`--only ${only.join(',')}`]),
    ...(rounds === 3 ? [] : [`--rounds ${rounds}`]),
    ...(seconds === (isFull ? 5 : 3) ? [] : [`--seconds ${seconds}`]),
  ];
  return ['npm run bench', ...(flags.length === 0 ? [] : ['--', ...flags])].join(' ');
}
