import { mayTakeMore } from '@wts/service-kit/fairness';
import type { Logger } from '@wts/service-kit/observe';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { SendAttempt } from '../domain/attempt.ts';
import type { DisableRule } from '../domain/disable-rule.ts';
import type { RetrySchedule } from '../domain/schedule.ts';
import type { SecretKeys } from '@wts/service-kit/sealing';
import { DISPATCH, type DispatchLimits } from '../limits.ts';
import type { LaneGauges, LaneMetrics } from './metrics.ts';
import type { BegunAttempt, Claimant, LeasedLane } from '../store/lanes.ts';
import {
  addReplica,
  claimDueLanes,
  claimLanes,
  countBegun,
  endReplicas,
  forgetReplicas,
  readWakes,
  releaseLanes,
  renewReplica,
} from '../store/lanes.ts';
import { recordOutcomes, type Recorded } from '../store/outcomes.ts';
import { Lane, type LaneParts, type ReplicaLease } from './lane.ts';
import { LaneReader } from './reader.ts';
import { Recorder } from './recorder.ts';
import { Slots } from './slots.ts';

/*
 * Which replica attempts what. A lane, the deliveries of one endpoint, belongs to one replica at a time, as long as that one
 * renews its lease: one row for all its lanes, on the clock of PostgreSQL. A replica whose lease ran out has ended, and never
 * renews it again, so another one can take its lanes over; the token of a lane ascends with that, so a replica that was
 * suspended beyond the end of its lease can record no failure. It begins no attempt beyond the lease, and the next holder
 * begins with what was not recorded, so no delivery overtakes another; an attempt under way at that moment may be made twice.
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
  /** Settings of these endpoints changed, or attempts were requested. */
  change(endpointIds: readonly string[]): void;
  /** Another replica announced that one of both is so. */
  announced(endpointIds: readonly string[]): void;
  readonly gauges: LaneGauges;
}

export function openLanes(options: LanesOptions): Lanes {
  return new LeasedLanes(options, { ...DISPATCH, ...options.limits });
}

/** Within a lease. */
const RENEWALS = 4;
/** How often the rows of replicas that have ended are removed. */
const FORGET_MS = 10 * 60_000;

/** Just before it is renewed, a lease has to suffice for the beginning of an attempt. */
function checkLease({ leaseMs, leaseSlackMs }: DispatchLimits): void {
  if (leaseMs * (1 - 1 / RENEWALS) <= leaseSlackMs)
    throw new Error(`a lease of ${leaseMs} ms is too short for a slack of ${leaseSlackMs} ms`);
}

/** Under an id that is used for no other lease. */
class Holding implements ReplicaLease {
  readonly holder = randomUUID();
  safeUntilMs = Number.NEGATIVE_INFINITY;
}

class LeasedLanes implements Lanes, LaneGauges {
  readonly #options: LanesOptions;
  readonly #limits: DispatchLimits;
  #lease = new Holding();
  readonly #lanes = new Map<string, Lane>();
  /** How many of them each owner has. */
  readonly #lanesOf = new Map<string, number>();
  readonly #toClaim = new Set<string>();
  readonly #parts: LaneParts;
  readonly #recorder: Recorder;
  readonly #stopping = new AbortController();
  readonly #drained = new AbortController();
  readonly #running: Promise<void>;
  /** Until what is under way has ended. */
  readonly #renewing: Promise<void>;
  #setAside = 0;
  #claiming: Promise<void> | null = null;
  #releasing: Promise<void> | null = null;
  #isFailing = false;
  #forgottenAt = -Infinity;

  constructor(options: LanesOptions, limits: DispatchLimits) {
    checkLease(limits);
    this.#options = options;
    this.#limits = limits;
    const { pool, send, keys, schedule, metrics, log } = options;
    const recorder = (this.#recorder = new Recorder({
      write: (outcomes) => recordOutcomes(pool, outcomes, options.disableRule),
      onWritten: (recorded) => this.#written(recorded),
      onRoom: (ownerIds) => this.#each((lane) => ownerIds.has(lane.ownerId) && lane.advance()),
      atOnce: limits.outcomesAtOnce,
      max: limits.outcomesMax,
      gatherMs: limits.outcomesGatherMs,
      retryMs: limits.outcomeRetryMs,
      log,
    }));
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
    this.#renewing = this.#repeat(() => this.#renew(), limits.leaseMs / RENEWALS, this.#drained.signal);
    this.#running = this.#run();
  }

  get gauges(): LaneGauges {
    return this;
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
    return this.#recorder.depth;
  }

  async #run(): Promise<void> {
    const signal = AbortSignal.any([this.#options.signal, this.#stopping.signal]);
    await this.#repeat(() => this.#poll(), this.#limits.pollMs, signal);
    await this.#claiming;
    this.#each((lane) => lane.close());
  }

  /** What is under way is settled and recorded, then the lanes go back. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    const { attemptMs, drainSlackMs } = this.#limits;
    const { underWay, log } = this.#parts;
    const late = sleep(attemptMs + drainSlackMs / 2, undefined, { ref: false });
    await Promise.race([Promise.allSettled(underWay), late]);
    await this.#recorder.finish(drainSlackMs);
    await this.#release([...this.#lanes.values()]).catch((err: unknown) => {
      log.warn({ err }, 'lanes could not be given back; other replicas take them when the lease ends');
    });
    this.#drained.abort();
    await this.#renewing;
  }

  async #repeat(step: () => Promise<void>, everyMs: number, signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    while (!signal.aborted) {
      try {
        await step();
        if (this.#isFailing) log.info({}, 'lanes are served again');
        this.#isFailing = false;
      } catch (err) {
        if (!this.#isFailing) log.warn({ err }, 'lanes cannot be served now; trying again. Check PostgreSQL');
        this.#isFailing = true;
      }
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #poll(): Promise<void> {
    const { pool } = this.#options;
    await endReplicas(pool, this.#lease.holder);
    await this.#forgetReplicas();
    for (;;) {
      const max = Math.min(this.#limits.lanesAtOnce, this.#room);
      if (max === 0) break;
      const claimed = await this.#claim(max, (claimant) => claimDueLanes(pool, { ...claimant, max }));
      if (claimed < max) break;
    }
    if (this.#lanes.size > 0) await this.#readWakes();
    await this.#release([...this.#lanes.values()].filter((lane) => lane.isReleasable(this.#limits.laneIdleMs)));
  }

  async #forgetReplicas(): Promise<void> {
    const now = performance.now();
    if (now - this.#forgottenAt < FORGET_MS) return;
    await forgetReplicas(this.#options.pool);
    this.#forgottenAt = now;
  }

  async #readWakes(): Promise<void> {
    const { pool, log } = this.#options;
    const lanes = [...this.#lanes.values()];
    const held = new Map((await readWakes(pool, this.#lease.holder)).map((one) => [one.endpointId, one]));
    for (const lane of lanes) {
      const { endpointId } = lane;
      const own = held.get(endpointId);
      if (own?.token === lane.token) lane.noteWakes(own.wakes);
      else if (this.#lanes.get(endpointId) === lane) {
        log.info({ endpointId }, 'a lane belongs to another replica now, or its endpoint was deleted');
        this.#remove(lane);
      }
    }
  }

  /** The lease, which begins before the first claim. */
  async #begun(): Promise<Holding> {
    if (this.#lease.safeUntilMs < 0) await this.#renew();
    return this.#lease;
  }

  async #renew(): Promise<void> {
    const { pool, log } = this.#options;
    const { leaseMs } = this.#limits;
    const lease = this.#lease;
    const fromMs = performance.now();
    if (lease.safeUntilMs < 0) await addReplica(pool, lease.holder, leaseMs);
    else if (!(await renewReplica(pool, lease.holder, leaseMs))) {
      log.warn({ lanes: this.#lanes.size }, 'the lease of this replica ran out: its lanes may belong to others now');
      this.#each((lane) => this.#remove(lane));
      this.#lease = new Holding();
      return this.#renew();
    }
    lease.safeUntilMs = fromMs + leaseMs;
    this.#each((lane) => lane.advance());
  }

  /** The rest is held by other replicas, which get an announcement. */
  async #claimWoken(): Promise<void> {
    const { pool, announce, log } = this.#options;
    // Lanes that are woken together are claimed together.
    await Promise.resolve();
    while (this.#toClaim.size > 0 && !this.#options.signal.aborted) {
      const endpointIds = [...this.#toClaim].slice(0, Math.min(this.#limits.lanesAtOnce, this.#room));
      // Lanes without room here are due, so any replica with room claims them, and this one after it released others.
      if (endpointIds.length === 0) this.#toClaim.clear();
      for (const endpointId of endpointIds) this.#toClaim.delete(endpointId);
      try {
        await this.#claim(endpointIds.length, (claimant) => claimLanes(pool, { ...claimant, endpointIds }));
      } catch (err) {
        log.debug({ err }, 'lanes could not be claimed; the next check for due lanes finds them');
      }
      const notHeld = endpointIds.filter((endpointId) => !this.#lanes.has(endpointId));
      if (notHeld.length > 0) announce?.(notHeld);
    }
    // In the same turn as the last check, because a lane that is woken in between would wait for the next poll.
    this.#claiming = null;
  }

  /** Room is set aside for so many lanes meanwhile. Returns how many there were. */
  async #claim(max: number, claim: (claimant: Claimant) => Promise<LeasedLane[]>): Promise<number> {
    if (max === 0) return 0;
    this.#setAside += max;
    try {
      // A release that arrives behind the claim of the same lane would end the lease that was just claimed.
      await this.#releasing;
      const lease = await this.#begun();
      const claimed = await claim(this.#claimant(lease));
      this.#add(claimed, lease);
      return claimed.length;
    } finally {
      this.#setAside -= max;
    }
  }

  get #room(): number {
    return Math.max(0, this.#limits.lanesMax - this.#lanes.size - this.#setAside);
  }

  /** Owners with as many lanes as one may have get no more, because otherwise two could have them all. */
  #claimant({ holder }: Holding): Claimant {
    const free = this.#limits.lanesMax - this.#lanes.size;
    const full = [...this.#lanesOf].filter(([, count]) => !mayTakeMore(count, free));
    return { holder, withoutOwners: full.map(([ownerId]) => ownerId) };
  }

  #add(claimed: readonly LeasedLane[], lease: Holding): void {
    // It ran out meanwhile, so others may claim these.
    if (lease !== this.#lease) return;
    const expired = claimed.filter(({ isTakenOver }) => isTakenOver).length;
    if (expired > 0) this.#options.metrics.leaseExpired(expired);
    for (const leased of claimed) {
      const before = this.#lanes.get(leased.endpointId);
      if (before?.token === leased.token) continue;
      if (before !== undefined) this.#remove(before);
      const lane = new Lane(leased, lease, this.#parts);
      this.#lanes.set(leased.endpointId, lane);
      this.#lanesOf.set(lane.ownerId, (this.#lanesOf.get(lane.ownerId) ?? 0) + 1);
      lane.readAll();
    }
  }

  #remove(lane: Lane): void {
    lane.close();
    if (!this.#lanes.delete(lane.endpointId)) return;
    const left = (this.#lanesOf.get(lane.ownerId) ?? 1) - 1;
    if (left === 0) this.#lanesOf.delete(lane.ownerId);
    else this.#lanesOf.set(lane.ownerId, left);
  }

  async #release(lanes: readonly Lane[]): Promise<void> {
    const states = lanes.map(({ state }) => state);
    for (const lane of lanes) this.#remove(lane);
    if (states.length === 0) return;
    this.#releasing = releaseLanes(this.#options.pool, this.#lease.holder, states);
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
