/**
 * `npm run bench`: systems of their own on this machine, one generator, every figure beside a limit or a peer measured in
 * the same rounds. `npm run bench -- --help` says the rest.
 */
import { Refusal, runTask } from '@wts/local';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { OtherProcesses } from './cpu.ts';
import { commitLine, machineLine } from './machine.ts';
import { PART_NAMES, PARTS, type BenchPart, type PartName } from './parts.ts';
import { PEER_VERSIONS } from './peer.ts';
import { percent, table } from './report.ts';
import { keep, QUIET_SHARE_MAX, type PartResult } from './results.ts';
import type { Findings, Scene } from './scene.ts';
import { openSystem, type System } from './system.ts';

const USAGE = `npm run bench [-- options]

  --peer         installs Strata's server at the first time and measures it beside ours
  --full         the largest sizes, longer rounds, and keeps the results in infra/bench/results
  --keep         keeps the results of a shorter run too
  --only A,B     these parts: ${PART_NAMES.join(', ')}
  --rounds N     default 3; the middle one counts
  --seconds N    of a round; default 3, with --full 5
  --help

Kept results of single parts take the place of the same parts in what was kept before.`;

/** A part that takes so many times as long as it should hangs. */
const PATIENCE = 4;
const PATIENCE_SECONDS_MIN = 240;
const QUIET_MS = 2_000;

interface Options {
  readonly parts: readonly PartName[];
  readonly withPeer: boolean;
  readonly isFull: boolean;
  readonly keeps: boolean;
  readonly rounds: number;
  readonly seconds: number;
}

const beganMs = performance.now();

await runTask(async (stack) => {
  const options = readOptions();
  if (options === null) {
    console.log(USAGE);
    return 0;
  }
  await greet(options);
  const measured: Record<string, PartResult> = {};
  const left = [...options.parts];
  stack.defer(() => {
    if (left.length > 0) console.log(`\nNot measured. Go on with: ${commandOf(options, left)}`);
  });
  const failed: PartName[] = [];
  for (const name of options.parts) {
    const result = await measurePart(stack, name, options);
    // Told to stop: what it was measured on is gone.
    if (stack.disposed) return 1;
    if (result === null) failed.push(name);
    else {
      measured[name] = result;
      if (options.keeps) await keep({ [name]: result }, PART_NAMES);
      left.splice(left.indexOf(name), 1);
    }
  }
  const rows = Object.values(measured).flatMap((part) => part.rows);
  if (rows.length > 0) console.log(`\n${table(rows)}\n`);
  if (options.keeps) console.log(`Kept in ${await keep({}, PART_NAMES)}`);
  return failed.length === 0 ? 0 : 1;
});

function readOptions(): Options | null {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: PART_NAMES.join(',') },
      peer: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const wanted = values.only.split(',').map((name) => name.trim());
  const unknown = wanted.filter((name) => !(PART_NAMES as readonly string[]).includes(name));
  if (unknown.length > 0) throw new Refusal(`No such part: ${unknown.join(', ')}. There are ${PART_NAMES.join(', ')}.`);
  return {
    parts: PART_NAMES.filter((name) => wanted.includes(name)),
    withPeer: values.peer,
    isFull: values.full,
    keeps: values.full || values.keep,
    rounds: wholeNumber('rounds', values.rounds),
    seconds: wholeNumber('seconds', values.seconds ?? (values.full ? '5' : '3')),
  };
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 60) return value;
  throw new Refusal(`--${name} takes a whole number from 1 to 60, not "${text}".`);
}

async function greet(options: Options): Promise<void> {
  const others = new OtherProcesses();
  await pause(QUIET_MS);
  const share = others.share();
  const seconds = options.parts.reduce((sum, name) => sum + secondsOf(name, options), 0);
  console.log(`${machineLine()}, Node ${process.versions.node}`);
  console.log(
    `${options.parts.length} parts, about ${Math.ceil(seconds / 60)} min. CPU of others now: ${percent(share)}`,
  );
  if ((share ?? 0) > QUIET_SHARE_MAX)
    console.log('The machine is not quiet: ratios may hold, single figures will not.');
}

function secondsOf(name: PartName, { isFull }: Options): number {
  const { seconds, secondsFull } = PARTS[name];
  return isFull ? secondsFull : seconds;
}

/** Null when it failed, which is told and does not stop the others. */
async function measurePart(stack: AsyncDisposableStack, name: PartName, options: Options): Promise<PartResult | null> {
  const { measure, start }: BenchPart = PARTS[name];
  const { parts, withPeer, isFull, rounds, seconds } = options;
  say(`${name} (${parts.indexOf(name) + 1} of ${parts.length}), about ${secondsOf(name, options)} s`);
  const startedMs = performance.now();
  const others = new OtherProcesses();
  try {
    // Disposed of here, or by whoever stops the run.
    const system = stack.use(await openSystem(withPeer, start));
    try {
      const { testSystem, ours, peer } = system;
      const versions = await versionsOf(system);
      const scene: Scene = { testSystem, ours, peer, rounds, seconds, isFull, say: (text) => say(`  ${text}`) };
      const findings = await inTime(
        measure(scene),
        Math.max(PATIENCE_SECONDS_MIN, secondsOf(name, options) * PATIENCE),
      );
      const tookSeconds = (performance.now() - startedMs) / 1000;
      const othersShare = others.share();
      say(`  done in ${Math.round(tookSeconds)} s; CPU of others: ${percent(othersShare)}`);
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
        ...findings,
      };
    } finally {
      await system[Symbol.asyncDispose]();
    }
  } catch (error) {
    if (stack.disposed) return null;
    say(`  ${name} could not be measured`);
    console.error(error);
    return null;
  }
}

async function inTime(measuring: Promise<Findings>, seconds: number): Promise<Findings> {
  const over = new AbortController();
  const late = pause(seconds * 1000, null, { signal: over.signal }).catch(() => null);
  try {
    const findings = await Promise.race([measuring, late]);
    if (findings === null) throw new Error(`not done in ${seconds} s`);
    return findings;
  } finally {
    over.abort();
    // What is still under way fails when its system goes.
    measuring.catch(() => undefined);
  }
}

async function versionsOf({ testSystem, peer }: System): Promise<string> {
  const { postgres, nats } = testSystem;
  const own = [`Node ${process.versions.node}`, `PostgreSQL ${postgres.version}`, `NATS ${nats.version}`];
  return [...own, ...(peer === null ? [] : [PEER_VERSIONS])].join(', ');
}

function commandOf({ parts, withPeer, isFull, keeps, rounds, seconds }: Options, only = parts): string {
  const flags = [
    ...(withPeer ? ['--peer'] : []),
    ...(isFull ? ['--full'] : []),
    ...(keeps && !isFull ? ['--keep'] : []),
    ...(only.length === PART_NAMES.length ? [] : [`--only ${only.join(',')}`]),
    ...(rounds === 3 ? [] : [`--rounds ${rounds}`]),
    ...(seconds === (isFull ? 5 : 3) ? [] : [`--seconds ${seconds}`]),
  ];
  return ['npm run bench', ...(flags.length === 0 ? [] : ['--', ...flags])].join(' ');
}

function say(text: string): void {
  const seconds = Math.floor((performance.now() - beganMs) / 1000);
  console.log(`${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}  ${text}`);
}
