import type { TestSystem } from '@wts/testkit';
import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { keepWriting } from '../load/writers.ts';
import type { Experience } from './control-client-worker.ts';
import type { ControlClient } from './control-client.ts';
import type { StormClients, Return } from './storm-clients.ts';

/** What drops the clients, and which address they use meanwhile. */
export interface Fault {
  readonly name: string;
  readonly happen: () => Promise<unknown>;
  /** The address the clients come back to. The control client uses it too. */
  readonly door: string;
}

/** One drop and return of all clients: what it cost, and what the control client met. */
export interface Passage {
  readonly clients: number;
  readonly back: Return;
  readonly calm: Experience;
  readonly meanwhile: Experience;
  /** Megabytes of the processes that lived through it. */
  readonly memory: readonly Footprint[];
  /** Connections to PostgreSQL at most. */
  readonly connections: number;
}

interface Footprint {
  readonly process: string;
  readonly before: number;
  readonly peak: number;
}

const run = promisify(execFile);
const CALM_MS = 2_000;
const FAULTS_SHOWN = 50;
const SAMPLE_MS = 200;
/** There is something to catch up with. */
const WRITES_EVERY_MS = 20;
const WRITING_MS = 1_000;
/** What the clients may cost a process: garbage that V8 has not collected while it is busy, and so much for each client. */
const GROWTH_MB_MAX = 96;
const GROWTH_EACH_KB_MAX = 64;

export async function dropAndReturn(
  testSystem: TestSystem,
  storm: StormClients,
  control: ControlClient,
  fault: Fault,
): Promise<Passage> {
  const { door } = fault;
  const before = control.work(door);
  await pause(CALM_MS);
  const calm = await before.callOff();
  const atFirst = await residentOf(testSystem);
  const lives = new Map(testSystem.services.map(({ name, pid }) => [name, pid]));
  const over = new AbortController();
  const watching = watchPeaks(testSystem, storm, over.signal);
  const beside = control.work(door);
  storm.moveTo(door);
  try {
    const back = await storm.dropAll(fault.happen, () => writeFor(testSystem, door, WRITING_MS));
    const meanwhile = await beside.callOff();
    over.abort();
    const { megabytes, connections } = await watching;
    const memory = testSystem.services
      .filter(({ name, pid }) => pid !== null && lives.get(name) === pid)
      .map(({ name }) => ({ process: name, before: atFirst.get(name) ?? 0, peak: megabytes.get(name) ?? 0 }));
    return { clients: storm.size, back, calm, meanwhile, memory, connections };
  } finally {
    over.abort();
  }
}

/**
 * What must not be and was: a client that lacks something or has it twice, a control client that met more than 503 and
 * closes that a client repeats, a process that grew without bound.
 */
export function faultsOf({ clients, back, meanwhile, memory }: Passage): string[] {
  const boundMb = GROWTH_MB_MAX + (clients * GROWTH_EACH_KB_MAX) / 1024;
  return [
    ...back.findings.map(({ seen }) => seen),
    ...meanwhile.failures.map((text) => `a control: ${text}`),
    ...memory
      .filter(({ before, peak }) => peak - before > boundMb)
      .map(({ process, before, peak }) => `${process} grew from ${before} to ${peak} MB, by more than ${boundMb}`),
  ];
}

export function wordsOf(passage: Passage): string[] {
  const { clients, back, calm, meanwhile, memory, connections } = passage;
  const { turnedAway, subscribedMs, caughtUpMs } = back;
  const reasons = [...turnedAway].map(([reason, count]) => `${count} x ${reason}`).join(', ');
  const [first, half, last] = [subscribedMs[0], at(subscribedMs, 0.5), subscribedMs.at(-1)].map(seconds);
  return [
    `  met          ${reasons}`,
    `  subscribed   the first after ${first}, half after ${half}, the last of ${subscribedMs.length} after ${last}`,
    `  caught up    all ${clients} after ${seconds(caughtUpMs)}`,
    `  control    ${experience(meanwhile)}; before, ${experience(calm)}`,
    ...memory.map(({ process, before, peak }) => {
      const each = Math.max(0, ((peak - before) * 1024) / clients);
      return `  memory       ${process}: ${before.toFixed(0)} MB, then ${peak.toFixed(0)} at most, ${each.toFixed(0)} KB more for each client`;
    }),
    `  PostgreSQL   ${connections} connections at most`,
    ...faultsOf(passage)
      .slice(0, FAULTS_SHOWN)
      .map((text) => `  BROKEN       ${text}`),
  ];
}

function experience({ tookMs, refusals }: Experience): string {
  const [p50, p99, most] = [at(tookMs, 0.5), at(tookMs, 0.99), tookMs.at(-1) ?? 0];
  return `${tookMs.length} changes, p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, at most ${most.toFixed(0)} ms, ${refusals} times told to come again`;
}

function at(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? 0;
}

function seconds(ms = 0): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

/** Changes in the clients' own workspace. */
async function writeFor(testSystem: TestSystem, door: string, ms: number): Promise<void> {
  const options = { everyMs: () => WRITES_EVERY_MS, door: () => door, onAcknowledged: () => {} };
  await keepWriting(testSystem, 1, AbortSignal.timeout(ms), options);
}

async function watchPeaks(
  testSystem: TestSystem,
  storm: StormClients,
  stop: AbortSignal,
): Promise<{ megabytes: Map<string, number>; connections: number }> {
  const peaks = new Map<string, number>();
  let connections = 0;
  while (!stop.aborted) {
    for (const [name, megabytes] of await residentOf(testSystem)) {
      peaks.set(name, Math.max(peaks.get(name) ?? 0, megabytes));
    }
    connections = Math.max(connections, await storm.connections());
    await pause(SAMPLE_MS, undefined, { signal: stop }).catch(() => undefined);
  }
  return { megabytes: peaks, connections };
}

async function residentOf(testSystem: TestSystem): Promise<Map<string, number>> {
  const names = new Map(testSystem.services.flatMap(({ name, pid }) => (pid === null ? [] : [[pid, name] as const])));
  const { stdout } = await run('ps', ['-o', 'pid=,rss=', '-p', [...names.keys()].join(',')]).catch(
    // It fails when one of them is gone, and tells of the others all the same.
    (error: unknown) => ({ stdout: (error as { stdout?: string }).stdout ?? '' }),
  );
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  return new Map(rows.map(([pid = 0, kilobytes = 0]) => [names.get(pid) ?? '', kilobytes / 1024] as const));
}
