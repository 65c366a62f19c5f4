import type { Logger } from '@wts/service-kit/observe';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { SendAttempt } from '../domain/attempt.ts';
import type { DisableRule } from '../domain/disable-rule.ts';
import type { RetrySchedule } from '../domain/schedule.ts';
import type { SecretKeys } from '@wts/service-kit/sealing';
import type { DispatchLimits } from '../limits.ts';
import { DISPATCH } from '../limits.ts';
import type { LaneGauges, LaneMetrics } from './metrics.ts';
import type { BegunAttempt, LeasedLane } from '../store/lanes.ts';
import { claimDueLanes, claimLanes, countBegun, readWakes, releaseLanes, renewLanes } from '../store/lanes.ts';
import type { Recorded } from '../store/outcomes.ts';
import { recordOutcomes } from '../store/outcomes.ts';
import type { LaneParts } from './lane.ts';
import { Lane } from './lane.ts';
import { LaneReader } from './reader.ts';
import { Recorder } from './recorder.ts';
import { Slots } from './slots.ts';

/*
 * Which replica attempts what. A lane, the deliveries of one endpoint, is leased to one replica at a time; the lease is a
 * row's time on the clock of PostgreSQL, and its token ascends with each take-over, so a replica that was suspended beyond
 * the end of its lease can record no failure. The holder begins an attempt only when its end lies safely within the lease.
 *
 * A lane is claimed when it is woken, or when it is due, which each replica checks twice a second; so after a
 * wake or an announcement that was lost a delivery is late by a moment, after the end of a replica by a lease.
 */

export interface LanesOptions {
  readonly pool: Pool;
  readonly send: SendAttempt;
  readonly keys: SecretKeys;
  readonly schedule: RetrySchedule;
  readonly disableRule: DisableRule;
  readonly metrics: LaneMetrics;
  readonly log: Logger;
  /** Aborts when draining begins: from then on no attempt begins. */
  readonly signal: AbortSignal;
  /** Announces to the other replicas that these lanes, which one of them holds, have work. */
  readonly announce?: (endpointIds: readonly string[]) => void;
  readonly limits?: Partial<DispatchLimits>;
}

export interface Lanes extends AsyncDisposable {
  /** These endpoints have new deliveries. */
  wake(endpointIds: readonly string[]): void;
  /** Settings of these endpoints changed, or attempts were asked for. */
  change(endpointIds: readonly string[]): void;
  /** Another replica announced that one of both is so. */
  announced(endpointIds: readonly string[]): void;
  readonly gauges: LaneGauges;
}

export function openLanes(options: LanesOptions): Lanes {
  const lanes = new LeasedLanes(options, { ...DISPATCH, ...options.limits });
  const running = lanes.run();
  return {
    wake: (endpointIds) => lanes.wake(endpointIds),
    change: (endpointIds) => lanes.change(endpointIds),
    announced: (endpointIds) => lanes.announced(endpointIds),
    gauges: lanes,
    [Symbol.asyncDispose]: async () => {
      lanes.stop();
      await running;
      await lanes.drain();
    },
  };
}

/** Within a lease. */
const RENEWALS = 3;

/** An attempt that outlives its lease would be made by two replicas at once. Just before it is renewed, a lease has to suffice. */
function checkLease({ leaseMs, attemptMs, leaseSlackMs }: DispatchLimits): void {
  const leftMs = leaseMs * (1 - 1 / RENEWALS);
  if (leftMs < attemptMs + leaseSlackMs) {
    throw new Error(`a lease of ${leaseMs} ms is too short for attempts of ${attemptMs} ms`);
  }
}

class LeasedLanes implements LaneGauges {
  readonly #options: LanesOptions;
  readonly #limits: DispatchLimits;
  readonly #holder = randomUUID();
  readonly #lanes = new Map<string, Lane>();
  readonly #parts: LaneParts;
  readonly #stopping = new AbortController();
  #toClaim = new Set<string>();
  #claiming: Promise<void> | null = null;
  #releasing: Promise<void> | null = null;
  #isFailing = false;

  constructor(options: LanesOptions, limits: DispatchLimits) {
    checkLease(limits);
    this.#options = options;
    this.#limits = limits;
    const { pool, send, keys, schedule, metrics, log } = options;
    const recorder = new Recorder({
      write: (outcomes) => recordOutcomes(pool, outcomes, options.disableRule),
      onWritten: (recorded) => this.#written(recorded),
      onRoom: () => this.#each((lane) => lane.advance()),
      atOnce: limits.outcomesAtOnce,
      max: limits.outcomesMax,
      gatherMs: limits.outcomesGatherMs,
      retryMs: limits.outcomeRetryMs,
      log,
    });
    const held = { characters: 0 };
    const reader = new LaneReader(pool, held);
    const slots = new Slots(limits);
    const attempts = {
      send,
      schedule,
      metrics,
      log,
      limits,
      countBegun: (begun: BegunAttempt) => countBegun(pool, begun),
    };
    this.#parts = { ...attempts, reader, slots, recorder, keys, held, underWay: new Set() };
  }

  wake(endpointIds: readonly string[]): void {
    this.#eachOf(endpointIds, (lane) => lane.wake());
  }

  change(endpointIds: readonly string[]): void {
    this.#eachOf(endpointIds, (lane) => lane.readAll());
  }

  announced(endpointIds: readonly string[]): void {
    for (const endpointId of endpointIds) this.#lanes.get(endpointId)?.readAll();
  }

  /** Lanes that are not held are claimed, and a claimed lane reads everything. */
  #eachOf(endpointIds: readonly string[], act: (lane: Lane) => void): void {
    for (const endpointId of endpointIds) {
      const lane = this.#lanes.get(endpointId);
      if (lane === undefined) this.#toClaim.add(endpointId);
      else act(lane);
    }
    if (this.#toClaim.size > 0) this.#claiming ??= this.#claimWoken();
  }

  inFlight(): Readonly<Record<'quick' | 'slow' | 'unknown', number>> {
    return this.#parts.slots.taken;
  }

  lanes(): { readonly active: number; readonly slow: number; readonly idle: number } {
    const all = [...this.#lanes.values()];
    const active = all.filter(({ isIdle }) => !isIdle);
    return {
      active: active.length,
      slow: active.filter(({ isSlow }) => isSlow).length,
      idle: all.length - active.length,
    };
  }

  oldestDueSeconds(): number {
    return Math.max(0, ...[...this.#lanes.values()].map(({ oldestDueMs }) => oldestDueMs)) / 1000;
  }

  unrecordedOutcomes(): number {
    return this.#parts.recorder.depth;
  }

  stop(): void {
    this.#stopping.abort();
  }

  async run(): Promise<void> {
    const signal = AbortSignal.any([this.#options.signal, this.#stopping.signal]);
    const { pollMs, leaseMs } = this.#limits;
    await Promise.all([
      this.#repeat(() => this.#poll(), pollMs, signal),
      this.#repeat(() => this.#renew(), leaseMs / RENEWALS, signal),
    ]);
    await this.#claiming;
    this.#each((lane) => lane.close());
  }

  /** What is under way is settled and recorded, then the lanes go back. */
  async drain(): Promise<void> {
    const { attemptMs, drainSlackMs } = this.#limits;
    const { underWay, recorder, log } = this.#parts;
    const late = sleep(attemptMs + drainSlackMs / 2, undefined, { ref: false });
    await Promise.race([Promise.allSettled(underWay), late]);
    await recorder.finish(drainSlackMs);
    await this.#release([...this.#lanes.values()]).catch((err: unknown) => {
      log.warn({ err }, 'lanes could not be given back; other replicas take them when the leases end');
    });
  }

  async #repeat(step: () => Promise<void>, everyMs: number, signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    while (!signal.aborted) {
      try {
        await step();
        if (this.#isFailing) log.info({}, 'lanes are served again');
        this.#isFailing = false;
      } catch (err) {
        if (!this.#isFailing) log.warn({ err }, 'lanes cannot be served now; trying again');
        this.#isFailing = true;
      }
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #poll(): Promise<void> {
    const { pool } = this.#options;
    for (;;) {
      const max = Math.min(this.#limits.lanesAtOnce, this.#limits.lanesMax - this.#lanes.size);
      if (max <= 0) break;
      const safeFromMs = performance.now();
      const claimed = await claimDueLanes(pool, { holder: this.#holder, leaseMs: this.#limits.leaseMs, max });
      this.#add(claimed, safeFromMs);
      if (claimed.length < max) break;
    }
    const held = await readWakes(pool, this.#holder);
    for (const { endpointId, wakes } of held) this.#lanes.get(endpointId)?.noteWakes(wakes);
    await this.#release([...this.#lanes.values()].filter((lane) => lane.isReleasable(this.#limits.laneIdleMs)));
  }

  async #renew(): Promise<void> {
    const { pool, log } = this.#options;
    const { leaseMs, lanesAtOnce } = this.#limits;
    const all = [...this.#lanes.values()];
    for (let from = 0; from < all.length; from += lanesAtOnce) {
      const part = all.slice(from, from + lanesAtOnce);
      const safeFromMs = performance.now();
      const states = part.map(({ state }) => state);
      const renewed = await renewLanes(pool, { holder: this.#holder, leaseMs, states });
      for (const lane of part) {
        if (renewed.has(lane.endpointId)) lane.renewed(safeFromMs + leaseMs);
        else if (this.#lanes.get(lane.endpointId) === lane) {
          log.info(
            { endpointId: lane.endpointId },
            'a lane belongs to another replica now, or its endpoint was deleted',
          );
          this.#remove(lane);
        }
      }
    }
  }

  /** The rest is held by other replicas, which get an announcement. */
  async #claimWoken(): Promise<void> {
    const { pool, log, announce } = this.#options;
    // Lanes that are woken together are claimed together.
    await Promise.resolve();
    while (this.#toClaim.size > 0 && !this.#options.signal.aborted) {
      const { lanesAtOnce, lanesMax } = this.#limits;
      const room = lanesMax - this.#lanes.size;
      // Lanes without room here are due, so any replica with room claims them, and this one after it released others.
      if (room <= 0) return this.#toClaim.clear();
      const endpointIds = [...this.#toClaim].slice(0, Math.min(lanesAtOnce, room));
      for (const endpointId of endpointIds) this.#toClaim.delete(endpointId);
      try {
        // A release that arrives behind the claim of the same lane would end the lease that was just claimed.
        await this.#releasing;
        const safeFromMs = performance.now();
        const { leaseMs } = this.#limits;
        const claimed = await claimLanes(pool, { holder: this.#holder, leaseMs, endpointIds });
        this.#add(claimed, safeFromMs);
      } catch (err) {
        log.debug({ err }, 'lanes could not be claimed; the next check for due lanes finds them');
      }
      const elsewhere = endpointIds.filter((endpointId) => !this.#lanes.has(endpointId));
      if (elsewhere.length > 0) announce?.(elsewhere);
    }
    this.#claiming = null;
  }

  #add(claimed: readonly LeasedLane[], safeFromMs: number): void {
    const expired = claimed.filter(({ isTakenOver }) => isTakenOver).length;
    if (expired > 0) this.#options.metrics.leaseExpired(expired);
    for (const leased of claimed) {
      const safeUntilMs = safeFromMs + this.#limits.leaseMs;
      const before = this.#lanes.get(leased.endpointId);
      if (before?.token === leased.token) {
        before.renewed(safeUntilMs);
        continue;
      }
      if (before !== undefined) this.#remove(before);
      const lane = new Lane(leased, safeUntilMs, this.#parts);
      this.#lanes.set(leased.endpointId, lane);
      lane.readAll();
    }
  }

  #remove(lane: Lane): void {
    lane.close();
    this.#lanes.delete(lane.endpointId);
  }

  async #release(lanes: readonly Lane[]): Promise<void> {
    const states = lanes.map(({ state }) => state);
    for (const lane of lanes) this.#remove(lane);
    if (states.length === 0) return;
    this.#releasing = releaseLanes(this.#options.pool, this.#holder, states);
    await this.#releasing.finally(() => (this.#releasing = null));
  }

  #written({ disabled, enabledAgain }: Recorded): void {
    for (const [endpointId, reason] of disabled) {
      this.#options.metrics.endpointDisabled(reason);
      this.#options.log.info({ endpointId, reason }, 'an endpoint was switched off');
    }
    this.announced([...disabled.keys()]);
    this.change(enabledAgain);
  }

  #each(act: (lane: Lane) => void): void {
    for (const lane of this.#lanes.values()) act(lane);
  }
}
