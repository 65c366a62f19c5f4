import assert from 'node:assert/strict';
import { isGone } from '../domain/disable-rule.ts';
import type { SecretKeys } from '@wts/service-kit/sealing';
import type { DispatchLimits } from '../limits.ts';
import type { EndpointSettings, LaneState, LeasedLane } from '../store/lanes.ts';
import type { Held } from './due-queue.ts';
import { FirstAttempts } from './first-attempts.ts';
import { FreshSettings } from './fresh-settings.ts';
import { makeAttempt, type AttemptParts, type Due, type Permit } from './make-attempt.ts';
import { PaceMeter } from './pace.ts';
import type { LaneReader, Reading } from './reader.ts';
import type { Recorder, Recording } from './recorder.ts';
import { Retries } from './retries.ts';
import type { Slots } from './slots.ts';

/** Of a replica, for all its lanes. A lane begins nothing beyond it. */
export interface ReplicaLease {
  safeUntilMs: number;
}

/** What all lanes of a process share. */
export interface LaneParts extends AttemptParts {
  readonly reader: Pick<LaneReader, 'read'>;
  readonly slots: Slots;
  readonly recorder: Pick<Recorder, 'add' | 'hasRoom'>;
  readonly keys: SecretKeys;
  readonly limits: DispatchLimits;
  readonly held: Held;
  /** Attempts under way. */
  readonly underWay: Set<Promise<void>>;
}

/**
 * One endpoint, while this replica leases it. First attempts run one after the other, ascending; the next one begins when
 * the one before is settled, whatever became of it. A first attempt that failed becomes a retry, and retries run beside,
 * each at its time. `FirstAttempts`, `Retries` and `FreshSettings` hold what is known of each and decide what may be next; the lane
 * reads for them, and gives them slots and settings. After everything that happens (a wake, a reading, the end of an attempt, a
 * timer, a renewed lease) it begins what can begin now.
 *
 * - `open`: readings and attempts begin. A reading that fails, a secret that cannot be read and an outcome that PostgreSQL refuses
 *   lead to `paused`.
 * - `paused`: readings and attempts wait. The end of the pause leads to `open`.
 * - `closed`: the lane is given back, or belongs to another replica. Nothing begins; what is under way is settled and recorded.
 *
 * Keeps webhooks.order.commit and webhooks.order.slow-endpoint.
 */
export class Lane {
  readonly endpointId: string;
  readonly ownerId: string;
  readonly token: string;
  readonly #parts: LaneParts;
  readonly #lease: ReplicaLease;
  readonly #recoversUntilMs: number;
  readonly #settings: FreshSettings;
  readonly #firsts: FirstAttempts;
  readonly #retries: Retries;
  readonly #meter: PaceMeter;
  #mode: 'open' | 'paused' | 'closed' = 'open';
  #pausedUntilMs = 0;
  #reading: Promise<void> | null = null;
  /** Answers of 410 that are not recorded yet. */
  #goneUnrecorded = 0;
  #idleSinceMs = performance.now();

  constructor(leased: LeasedLane, lease: ReplicaLease, parts: LaneParts) {
    this.endpointId = leased.endpointId;
    this.ownerId = leased.ownerId;
    this.token = leased.token;
    this.#lease = lease;
    this.#parts = parts;
    const { limits, keys, held } = parts;
    this.#recoversUntilMs = leased.isTakenOver ? performance.now() + limits.recoveringMs : 0;
    this.#settings = new FreshSettings({ keys, ageMs: limits.settingsAgeMs, wakes: leased.wakes });
    this.#firsts = new FirstAttempts(held);
    const { retriesAtOnce: atOnce, retryPaceMs: paceMs } = limits;
    this.#retries = new Retries({ held, atOnce, paceMs, onDue: () => this.advance() });
    this.#meter = new PaceMeter(limits);
  }

  /** The lane has new deliveries. */
  wake(): void {
    this.#firsts.changed();
    this.advance();
  }

  /** Settings may have changed, retries may have been requested. */
  readAll(): void {
    this.#firsts.changed();
    this.#retries.changed();
    this.#settings.changed();
    this.advance();
  }

  /** How often the lane was woken, as PostgreSQL has it: more than is known here means that a wake was missed. */
  noteWakes(wakes: string): void {
    if (this.#settings.isWokenSince(wakes)) this.readAll();
  }

  /** Nothing begins any more; what is under way is settled and recorded. */
  close(): void {
    this.#mode = 'closed';
    this.#retries.close();
    this.#firsts.clear();
    // What was read and not attempted is due for the next holder.
    this.#firsts.changed();
  }

  get isIdle(): boolean {
    const isWaiting = !this.#firsts.isIdle || !this.#retries.isIdle || !this.#settings.isIdle;
    return !isWaiting && this.#reading === null;
  }

  /** Whether the lease can be given back: nothing to do for a while, or nothing to do at all. */
  isReleasable(idleMs: number): boolean {
    return this.isIdle && (this.#settings.served === null || performance.now() - this.#idleSinceMs > idleMs);
  }

  get isSlow(): boolean {
    return this.#meter.pace(this.#settings.served) === 'slow';
  }

  /** Since its oldest first attempt was due. */
  get oldestDueMs(): number {
    const { oldestCommittedMs } = this.#firsts;
    return oldestCommittedMs === null ? 0 : performance.now() - oldestCommittedMs;
  }

  get state(): LaneState {
    const { endpointId, token } = this;
    return { endpointId, token, wakes: this.#settings.wakes, dueInMs: this.#dueInMs() };
  }

  #dueInMs(): number | null {
    if (!this.isIdle) return 0;
    const { dueMs } = this.#retries;
    if (this.#settings.served === null || dueMs === null) return null;
    return Math.max(0, dueMs - performance.now());
  }

  /** Begins what can begin now. */
  advance(): void {
    if (this.#mode !== 'open') return;
    if (this.#needsReading()) void this.#read();
    if (!this.#mayBegin()) return;
    if (this.#firsts.begin()) this.#track(this.#attemptFirst(), () => this.#firsts.end());
    while (this.#retries.begin()) this.#track(this.#attemptRetry(), () => this.#retries.end());
  }

  #pause(ms: number): void {
    const untilMs = performance.now() + ms;
    if (this.#mode === 'closed' || untilMs <= this.#pausedUntilMs) return;
    this.#mode = 'paused';
    this.#pausedUntilMs = untilMs;
    // A timer may fire a fraction of a millisecond early.
    setTimeout(() => this.#resume(), ms + 1).unref();
  }

  #resume(): void {
    if (this.#mode !== 'paused' || performance.now() < this.#pausedUntilMs) return;
    this.#mode = 'open';
    this.advance();
  }

  /** An attempt may begin while the lease is safe, and there is room for its outcome. */
  #mayBegin(): boolean {
    const isLeaseSafe = this.#lease.safeUntilMs - performance.now() >= this.#parts.limits.leaseSlackMs;
    const isServed = this.#mode !== 'closed' && this.#goneUnrecorded === 0;
    return isServed && isLeaseSafe && this.#parts.recorder.hasRoom(this.ownerId);
  }

  #needsReading(): boolean {
    const isNeeded = this.#firsts.needsReading || this.#retries.needsReading || this.#settings.isUnread;
    return this.#reading === null && isNeeded;
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = null;
      this.advance();
    });
    return this.#reading;
  }

  async #readOnce(): Promise<void> {
    const [settings, firsts, retries] = [this.#settings, this.#firsts, this.#retries];
    const wantsRetries = retries.needsReading;
    const wantsSettings = wantsRetries || settings.needsReading;
    const firstsAfter = firsts.needsReading ? firsts.beginReading() : null;
    if (wantsRetries) retries.beginReading();
    if (wantsSettings) settings.beginReading();
    try {
      const { endpointId, ownerId } = this;
      const reading = await this.#parts.reader.read({ endpointId, ownerId, wantsSettings, firstsAfter, wantsRetries });
      if (this.#mode !== 'closed') this.#take(reading, { wantsSettings, firstsAfter, wantsRetries });
    } catch (err) {
      this.#parts.log.debug({ err, endpointId: this.endpointId }, 'a lane could not be read; trying again');
      if (firstsAfter !== null) firsts.failReading();
      if (wantsRetries) retries.failReading();
      settings.failReading();
      this.#pause(this.#parts.limits.laneRetryMs);
    }
    this.#idleSinceMs = performance.now();
  }

  #take(
    reading: Reading,
    asked: { readonly wantsSettings: boolean; readonly firstsAfter: number | null; readonly wantsRetries: boolean },
  ): void {
    const isWoken = asked.wantsSettings && this.#settings.endReading(reading);
    // The wake is known now and found by no poll, and may be for what this reading left out.
    if (isWoken && asked.firstsAfter === null) this.#firsts.changed();
    if (isWoken && !asked.wantsRetries) this.#retries.changed();
    if (asked.firstsAfter !== null) this.#firsts.endReading(reading, asked.firstsAfter);
    if (asked.wantsRetries) this.#retries.endReading(reading);
    if (this.#settings.served !== null) return;
    // Nothing is attempted until it is enabled again, which wakes the lane.
    this.#firsts.clear();
    this.#retries.clear();
  }

  #track(attempt: Promise<void>, onEnd: () => void): void {
    const { underWay } = this.#parts;
    const done = attempt.finally(() => {
      onEnd();
      underWay.delete(done);
      this.#idleSinceMs = performance.now();
      this.advance();
    });
    underWay.add(done);
  }

  async #attemptFirst(): Promise<void> {
    const permit = await this.#permit();
    const first = permit === null ? undefined : this.#firsts.take();
    if (first === undefined) return permit?.slot.free();
    if (!this.#retries.isUnrecorded(first.deliveryId)) return this.#make(first, permit as Permit);
    // Another replica recorded its first attempt while it was read, and it is attempted as a retry now.
    permit?.slot.free();
    this.#firsts.recorded();
  }

  async #attemptRetry(): Promise<void> {
    const permit = await this.#permit().finally(() => this.#retries.endWaiting());
    const retry = permit === null ? undefined : this.#retries.take();
    if (retry === undefined) return permit?.slot.free();
    await this.#make(retry, permit as Permit);
  }

  /** A slot for an attempt, with settings that are fresh when it begins; null when nothing may begin now. */
  async #permit(): Promise<Permit | null> {
    for (;;) {
      const known = await this.#freshSettings();
      if (known === null) return null;
      const { origin } = known;
      const slot = await this.#parts.slots.take({ pace: this.#meter.pace(known), origin, ownerId: this.ownerId });
      const settings = await this.#freshSettings();
      const secrets = settings === null || !this.#mayBegin() ? null : this.#secretsOf(settings);
      if (settings !== null && secrets !== null && settings.origin === origin) return { slot, settings, secrets };
      slot.free();
      if (settings === null || secrets === null) return null;
    }
  }

  /** Null when the endpoint is not served, or when its settings cannot be read now. */
  #freshSettings(): Promise<EndpointSettings | null> | EndpointSettings | null {
    const isKnown = this.#reading === null && this.#settings.isFresh;
    return isKnown ? this.#settings.served : this.#readSettings();
  }

  async #readSettings(): Promise<EndpointSettings | null> {
    // A reading in progress may have begun before the change that makes a reading necessary.
    await this.#reading;
    // A closed lane takes no reading any more, so its settings stay as they are.
    if (this.#mode !== 'closed' && !this.#settings.isFresh) await this.#read();
    return this.#mode !== 'closed' && this.#settings.isYoung() ? this.#settings.served : null;
  }

  #secretsOf(settings: EndpointSettings): readonly Buffer[] | null {
    try {
      return this.#settings.secretsOf(settings);
    } catch (err) {
      const { endpointId } = this;
      this.#parts.log.error({ err, endpointId }, 'deliveries wait: their signing secret cannot be read');
      this.#pause(this.#parts.limits.sealedMs);
      return null;
    }
  }

  async #make(delivery: Due, permit: Permit): Promise<void> {
    this.#retries.attempted(delivery.deliveryId);
    const lease = { token: this.token, isRecovering: performance.now() < this.#recoversUntilMs };
    const outcome = await makeAttempt(this.#parts, delivery, permit, lease);
    if (outcome === null) return this.#recorded(delivery, 'refused', null);
    const { startedMs, settledMs, statusCode, nextDelayMs } = outcome;
    this.#meter.note(settledMs - startedMs, permit.settings.origin);
    const isEndpointGone = isGone(statusCode);
    // Nothing begins before it is recorded that the endpoint is gone.
    if (isEndpointGone) this.#goneUnrecorded += 1;
    this.#parts.recorder.add(this.ownerId, outcome, (recording) => {
      if (isEndpointGone) this.#goneUnrecorded -= 1;
      assert(this.#goneUnrecorded >= 0);
      const nextMs = nextDelayMs === null ? null : settledMs + nextDelayMs;
      // Of an endpoint that is gone, everything is read again.
      this.#recorded(delivery, isEndpointGone && recording === 'recorded' ? 'ignored' : recording, nextMs);
    });
  }

  /** Everything is read again, except after `recorded`, which changed nothing that is not known here. */
  #recorded({ deliveryId, attemptCount }: Due, recording: Recording, nextMs: number | null): void {
    if (attemptCount === 0) this.#firsts.recorded();
    this.#retries.recorded(deliveryId);
    this.#idleSinceMs = performance.now();
    if (recording === 'refused') {
      if (attemptCount === 0) this.#firsts.restart();
      this.#pause(this.#parts.limits.refusedMs);
    }
    if (this.#mode === 'closed') return;
    if (recording !== 'recorded') return this.readAll();
    // Of a retry, one more attempt may have been requested meanwhile.
    if (attemptCount > 0) this.#retries.changed();
    this.#retries.dueAt(nextMs);
    this.advance();
  }
}
