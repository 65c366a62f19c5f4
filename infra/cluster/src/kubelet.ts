/** Watches pods as the kubelet of a cluster does: readiness decides who gets connections, liveness and exits restart. */
import { setTimeout as pause } from 'node:timers/promises';
import { Backoff } from './backoff.ts';
import type { Probe } from './plan.ts';
import type { Pod } from './pod.ts';

/** Exits and ready pods are seen this often at least. */
const LOOK_MS = 1_000;

export interface Incident {
  readonly pod: string;
  readonly what: string;
}

export class Kubelet {
  /** Restarts that no fault of the run explains. */
  readonly incidents: Incident[] = [];
  readonly #stop: AbortSignal;
  readonly #print: (line: string) => void;

  constructor(stop: AbortSignal, print: (line: string) => void) {
    this.#stop = stop;
    this.#print = print;
  }

  /** Until the pod is stopped. */
  async watch(pod: Pod): Promise<void> {
    const { readiness, liveness } = pod.workload.main;
    const isReady = readiness === null ? null : new Counted(readiness);
    const isLive = liveness === null ? null : new Counted(liveness);
    const backoff = new Backoff();
    // Liveness is not asked for before.
    let hasStarted = false;
    while (this.#isWatched(pod)) {
      await this.#pause(Math.min(LOOK_MS, readiness?.periodMs ?? LOOK_MS));
      if (!this.#isWatched(pod)) return;
      if (!pod.isAlive) {
        await this.#restart(pod, backoff, pod.disturbed === 'killed' ? null : 'it exited');
        hasStarted = false;
      } else if (isReady !== null) await this.#askReady(pod, isReady);
      else pod.isReady = true;
      hasStarted ||= pod.isReady;
      if (hasStarted && isLive?.isDue()) await this.#askLive(pod, isLive, backoff);
    }
  }

  async #askReady(pod: Pod, probe: Counted): Promise<void> {
    const isReady = await probe.ask(pod.address);
    // A pod that is being removed stays without connections.
    if (!this.#isWatched(pod)) return;
    if (isReady) pod.isReady = true;
    else if (probe.failures >= probe.failuresMax) pod.isReady = false;
  }

  async #askLive(pod: Pod, probe: Counted, backoff: Backoff): Promise<void> {
    if ((await probe.ask(pod.address)) || probe.failures < probe.failuresMax || !this.#isWatched(pod)) return;
    probe.failures = 0;
    const isFrozen = pod.disturbed === 'frozen';
    if (isFrozen) await pod.thaw();
    pod.kill();
    await this.#restart(pod, backoff, isFrozen ? null : 'it did not answer the probe of liveness');
  }

  #isWatched(pod: Pod): boolean {
    return !this.#stop.aborted && pod.disturbed !== 'stopping';
  }

  /** One that fails is seen as an exit at the next look, and so tried again later and later. */
  async #restart(pod: Pod, backoff: Backoff, why: string | null): Promise<void> {
    pod.isReady = false;
    const waitsMs = backoff.next(performance.now());
    if (why !== null) {
      this.incidents.push({ pod: pod.name, what: why });
      this.#print(`${pod.name} is restarted${waitsMs === 0 ? '' : ` in ${waitsMs / 1000} s`}: ${why}`);
    }
    await this.#pause(waitsMs);
    if (!this.#isWatched(pod)) return;
    await pod.restart().catch((error: unknown) => this.#print(`${pod.name} did not start: ${String(error)}`));
    if (pod.disturbed === 'killed') pod.disturbed = null;
  }

  #pause(ms: number): Promise<void> {
    return pause(ms, undefined, { signal: this.#stop }).catch(() => undefined);
  }
}

/** A probe, and how often in a row it failed. */
class Counted {
  failures = 0;
  readonly failuresMax: number;
  readonly #probe: Probe;
  #askedMs = 0;

  constructor(probe: Probe) {
    this.#probe = probe;
    this.failuresMax = probe.failuresMax;
  }

  isDue(): boolean {
    return performance.now() - this.#askedMs >= this.#probe.periodMs;
  }

  async ask(address: string): Promise<boolean> {
    this.#askedMs = performance.now();
    const { path, port, timeoutMs } = this.#probe;
    const isOk = await fetch(`http://${address}:${port}${path}`, { signal: AbortSignal.timeout(timeoutMs) }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.ok;
      },
      () => false,
    );
    this.failures = isOk ? 0 : this.failures + 1;
    return isOk;
  }
}
