import type { TestSystem } from '@wts/testkit';
import { setTimeout as pause } from 'node:timers/promises';
import { keepWriting } from '../load/writers.ts';
import { residentMbOf } from '../resident-memory.ts';
import { rest } from '../rest.ts';
import type { ControlResult } from './control-client-worker.ts';
import type { ControlClient } from './control-client.ts';
import type { Reconnect, StormClients } from './storm-clients.ts';

/** What drops the clients, and the address to which they reconnect. The control client uses that address too. */
export interface Disruption {
  readonly name: string;
  readonly run: () => Promise<unknown>;
  readonly baseUrl: string;
}

/** One drop and reconnect of all clients. */
export interface DropResult {
  readonly clients: number;
  readonly reconnect: Reconnect;
  /** The control client before the drop. */
  readonly before: ControlResult;
  /** The control client during the drop. */
  readonly during: ControlResult;
  /** Memory of the processes that were not restarted. */
  readonly memory: readonly ProcessMegabytes[];
  /** Connections to PostgreSQL at most. */
  readonly connections: number;
}

interface ProcessMegabytes {
  readonly process: string;
  readonly before: number;
  readonly peak: number;
}

const BEFORE_MS = 2_000;
const PROBLEMS_SHOWN = 50;
const SAMPLE_MS = 200;
/** Changes during the drop, so that the clients have to catch up. */
const WRITES_EVERY_MS = 20;
const WRITING_MS = 1_000;
/** Allowed growth of a process: garbage that V8 has not collected while it is busy, and so much for each client. */
const GROWTH_MB_MAX = 96;
const GROWTH_PER_CLIENT_KB_MAX = 64;

export async function dropAndReconnect(
  testSystem: TestSystem,
  storm: StormClients,
  control: ControlClient,
  disruption: Disruption,
): Promise<DropResult> {
  const { baseUrl } = disruption;
  const first = control.write(baseUrl);
  await pause(BEFORE_MS);
  const before = await first.stop();
  const residentBefore = residentOf(testSystem);
  const pids = new Map(testSystem.services.map(({ name, pid }) => [name, pid]));
  const over = new AbortController();
  const watching = watchPeaks(testSystem, storm, over.signal);
  const second = control.write(baseUrl);
  storm.reconnectTo(baseUrl);
  try {
    const reconnect = await storm.dropAll(disruption.run, () => writeFor(testSystem, baseUrl, WRITING_MS));
    const during = await second.stop();
    over.abort();
    const { megabytes, connections } = await watching;
    const memory = testSystem.services
      .filter(({ name, pid }) => pid !== null && pids.get(name) === pid)
      .map(({ name }) => ({ process: name, before: residentBefore.get(name) ?? 0, peak: megabytes.get(name) ?? 0 }));
    return { clients: storm.size, reconnect, before, during, memory, connections };
  } finally {
    over.abort();
  }
}

/**
 * What must not happen: a client misses an entry or receives one twice, the control client gets another error than 503 or a
 * closed connection that a client retries, or a process grows beyond its bound.
 */
export function problemsOf({ clients, reconnect, during, memory }: DropResult): string[] {
  const boundMb = GROWTH_MB_MAX + (clients * GROWTH_PER_CLIENT_KB_MAX) / 1024;
  return [
    ...reconnect.findings.map(({ seen }) => seen),
    ...during.failures.map((text) => `control client: ${text}`),
    ...memory
      .filter(({ before, peak }) => peak - before > boundMb)
      .map(({ process, before, peak }) => `${process} grew from ${before} to ${peak} MB, by more than ${boundMb}`),
  ];
}

export function linesOf(result: DropResult): string[] {
  const { clients, reconnect, before, during, memory, connections } = result;
  const { rejections, subscribedMs, caughtUpMs } = reconnect;
  const reasons = [...rejections].map(([reason, count]) => `${count} x ${reason}`).join(', ');
  const [first, half, last] = [subscribedMs[0], at(subscribedMs, 0.5), subscribedMs.at(-1)].map(seconds);
  return [
    `  rejections   ${reasons}`,
    `  subscribed   the first after ${first}, half after ${half}, the last of ${subscribedMs.length} after ${last}`,
    `  caught up    all ${clients} after ${seconds(caughtUpMs)}`,
    `  control      ${controlText(during)}; before: ${controlText(before)}`,
    ...memory.map(({ process, before: megabytes, peak }) => {
      const each = Math.max(0, ((peak - megabytes) * 1024) / clients);
      return `  memory       ${process}: ${megabytes.toFixed(0)} MB before, ${peak.toFixed(0)} MB at most, ${each.toFixed(0)} KB more per client`;
    }),
    `  PostgreSQL   ${connections} connections at most`,
    ...problemsOf(result)
      .slice(0, PROBLEMS_SHOWN)
      .map((text) => `  BROKEN       ${text}`),
  ];
}

export function controlText({ tookMs, refusals }: ControlResult): string {
  const [p50, p99, most] = [at(tookMs, 0.5), at(tookMs, 0.99), tookMs.at(-1) ?? 0];
  return `${tookMs.length} changes, p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, at most ${most.toFixed(0)} ms, ${refusals} times 503 with Retry-After`;
}

function at(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? 0;
}

function seconds(ms = 0): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

/** Changes in the clients' own workspace. */
async function writeFor(testSystem: TestSystem, baseUrl: string, ms: number): Promise<void> {
  const options = { everyMs: () => WRITES_EVERY_MS, baseUrl: () => baseUrl, onAcknowledged: () => {} };
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
    for (const [name, megabytes] of residentOf(testSystem)) peaks.set(name, Math.max(peaks.get(name) ?? 0, megabytes));
    connections = Math.max(connections, await storm.connections());
    await rest(SAMPLE_MS, stop);
  }
  return { megabytes: peaks, connections };
}

function residentOf({ services }: TestSystem): ReadonlyMap<string, number> {
  return new Map(services.flatMap(({ name, pid }) => (pid === null ? [] : [[name, residentMbOf(pid)] as const])));
}
