/**
 * A run under faults: writers, followers and consumers of webhooks use the cluster all the time, as `npm run soak` does with
 * processes; each minute a fault comes; at the end everything that was received is compared with the log.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import { faultsOf } from './faults.ts';
import { OWN_ADDRESS } from './network.ts';
import { verifyLog } from './verify-log.ts';
import { CHECK_EVERY_MS, every, Load, rest, type Span } from '@wts/verify';

const WRITERS = 6;
const SOCKETS = 6;
/** Of each writer. */
const WRITE_EVERY_MS = 300;
const COPIES_MAX = 2;
const FAULT_EVERY_MS = 60_000;
const PROGRESS_EVERY_MS = 30_000;
/** Without faults, at the end. */
const CALM_MS = 20_000;
const FINDINGS_SHOWN = 50;

export interface SoakOptions {
  readonly lastsMs: number;
  readonly print: (line: string) => void;
  readonly stop: AbortSignal;
}

/** Resolves to whether nothing was found. */
export async function soakCluster(cluster: Cluster, { lastsMs, print, stop: stopped }: SoakOptions): Promise<boolean> {
  const system = cluster.system();
  const stopping = new AbortController();
  const stop = AbortSignal.any([stopping.signal, stopped]);
  await using stack = new AsyncDisposableStack();
  const identity = await cluster.authority.issue({ hosts: [OWN_ADDRESS] });
  const place = { identity, host: OWN_ADDRESS };
  const writing = { writers: WRITERS, writeEveryMs: () => WRITE_EVERY_MS, copiesMax: COPIES_MAX };
  const load = await Load.start(stack, system, { place, sockets: SOCKETS, ...writing }, stop);
  const { check, consumers } = load;
  const progress = every(PROGRESS_EVERY_MS, stop, async () =>
    print(
      `${check.acknowledged} changes acknowledged, ${check.delivered} entries received, ${consumers?.attempts} webhook attempts, ${check.findings.length} findings`,
    ),
  );
  const kills: Span[] = [];
  const disturbing = disturb(cluster, { lastsMs, print, stop }, kills);
  // The first error ends the run.
  await Promise.race([disturbing, progress, ...load.background]).finally(() => stopping.abort());
  const faults = await disturbing;
  await Promise.all([progress, ...load.background]);
  if (stopped.aborted) return false;
  print('the load has stopped; waiting for the last deliveries, then all audits');
  const { summary, findings } = await load.finish(kills);
  const isLogSound = await verifyLog(system, print);
  const { incidents } = cluster.kubelet;
  const isPassed = findings.length === 0 && incidents.length === 0 && isLogSound;
  for (const line of [
    `faults     ${faults}`,
    ...summary,
    `restarts   ${incidents.length === 0 ? 'none but those of the faults' : incidents.map(({ pod, what }) => `${pod}: ${what}`).join('; ')}`,
    ...findings.slice(0, FINDINGS_SHOWN).map(({ guarantee, seen }) => `BROKEN     ${guarantee}: ${seen}`),
    isPassed ? 'PASSED' : 'FAILED',
  ])
    print(line);
  return isPassed;
}

/** Resolves to the number of faults. */
async function disturb(cluster: Cluster, { lastsMs, print, stop }: SoakOptions, kills: Span[]): Promise<number> {
  const faults = faultsOf(cluster);
  const startedMs = performance.now();
  let count = 0;
  while (!stop.aborted && (count + 1) * FAULT_EVERY_MS <= lastsMs) {
    const fault = faults[count % faults.length];
    if (fault === undefined) break;
    print(fault.name);
    const fromMs = Date.now();
    await fault.run();
    // A pod that was killed is ready until it is seen.
    await pause(2 * CHECK_EVERY_MS);
    await cluster.untilReady();
    print(`  all pods are ready again after ${((Date.now() - fromMs) / 1000).toFixed(0)} s`);
    if (fault.repeatsWebhooks) kills.push({ fromMs, toMs: Date.now() });
    count += 1;
    await rest(startedMs + count * FAULT_EVERY_MS - performance.now(), stop);
  }
  await rest(CALM_MS, stop);
  return count;
}
