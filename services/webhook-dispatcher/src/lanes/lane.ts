import { isGone } from '../domain/disable-rule.ts';
import type { SecretKeys } from '@wts/service-kit/sealing';
import type { DispatchLimits } from '../limits.ts';
import type { EndpointSettings, LaneState, LeasedLane } from '../store/lanes.ts';
import { DueQueue, type Held } from './due-queue.ts';
import { makeAttempt, type AttemptParts, type Due, type Permit } from './make-attempt.ts';
import { RETRIES_READ, type LaneReader, type Reading } from './reader.ts';
import type { Recorder, Recording } from './recorder.ts';
import { PaceMeter } from './pace.ts';
import { RetryPacer } from './retry-pacer.ts';
import { RetryTimer } from './retry-timer.ts';
import { SigningSecrets } from './signing-secrets.ts';
import type { Slots } from './slots.ts';

/** Of a replica, for all its lanes. A lane begins nothing beyond it. */
export interface ReplicaLease {
  safeUntilMs: number;
}

/** What all lanes of a process share. */
export interface LaneParts extends AttemptParts {
  readonly reader: LaneReader;
  readonly slots: Slots;
  readonly recorder: Recorder;
  readonly keys: SecretKeys;
  readonly limits: DispatchLimits;
  readonly held: Held;
  /** Attempts under way. */
  readonly underWay: Set<Promise<void>>;
}

/** After a reading failed, and while the secrets of an endpoint cannot be read. */
const RETRY_MS = 500;
const SEALED_MS = 30_000;
/** Between two attempts whose outcome PostgreSQL refuses: the consumer receives the same event each time. */
const REFUSED_MS = 5_000;

/**
 * One endpoint, while this replica leases it. First attempts run one after the other, ascending; the next one begins when
 * the one before is settled, whatever became of it. A first attempt that failed becomes a retry, and retries run beside,
 * each at its time. Everything that happens (a wake, a reading, the end of an attempt, a timer, a renewed lease) calls
 * `#advance`, which begins what can begin now.
 *
 * Keeps webhooks.order.commit and webhooks.order.slow-endpoint.
 */
export class Lane {
  readonly endpointId: string;
  readonly ownerId: string;
  readonly token: string;
  readonly #parts: LaneParts;
  readonly #lease: ReplicaLease;
  #wakes: string;
  readonly #recoversUntilMs: number;
  #isOpen = true;

  /** Null while the endpoint is not served. */
  #settings: EndpointSettings | null = null;
  #settingsFreshUntilMs = Number.NEGATIVE_INFINITY;
  readonly #secrets: SigningSecrets;
  readonly #meter: PaceMeter;

  readonly #firsts: DueQueue<Due>;
  /** Of the newest first attempt; 0 when they are read from the start. */
  #lastSequence = 0;
  #isFirstUnderWay = false;
  #firstsUnrecorded = 0;
  readonly #retries: DueQueue<Due>;
  #retriesUnderWay = 0;
  /** Those of them that wait for a place. */
  #retriesAsking = 0;
  readonly #nextRetry = new RetryTimer(() => {
    this.#wantsRetries = true;
    this.#advance();
  });
  readonly #retryPacer: RetryPacer;
  /** Deliveries under attempt, or whose outcome is not recorded yet. */
  readonly #busy = new Set<string>();
  /** Deliveries whose outcome was recorded during the current reading, which may still show them as due. */
  readonly #recordedMeanwhile = new Set<string>();
  /** Answers of 410 that are not recorded yet. */
  #goneUnrecorded = 0;

  #wantsFirsts = true;
  #wantsRetries = true;
  #wantsSettings = true;
  #reading: Promise<void> | null = null;
  #pausedUntilMs = 0;
  #idleSinceMs = performance.now();

  constructor(leased: LeasedLane, lease: ReplicaLease, parts: LaneParts) {
    this.endpointId = leased.endpointId;
    this.ownerId = leased.ownerId;
    this.token = leased.token;
    this.#wakes = leased.wakes;
    this.#lease = lease;
    this.#recoversUntilMs = leased.isTakenOver ? performance.now() + parts.limits.recoveringMs : 0;
    this.#parts = parts;
    this.#secrets = new SigningSecrets(parts.keys);
    this.#meter = new PaceMeter(parts.limits);
    this.#firsts = new DueQueue(parts.held);
    this.#retries = new DueQueue(parts.held);
    this.#retryPacer = new RetryPacer(parts.limits.retryPaceMs, () => this.#advance());
  }

  /** The lane has new deliveries. */
  wake(): void {
    this.#wantsFirsts = true;
    this.#advance();
  }

  /** Settings may have changed, retries may have been asked for. */
  readAll(): void {
    this.#wantsFirsts = true;
    this.#wantsRetries = true;
    this.#wantsSettings = true;
    this.#advance();
  }

  /** How often the lane was woken, as PostgreSQL has it: more than is known here means that a wake was missed. */
  noteWakes(wakes: string): void {
    if (BigInt(wakes) > BigInt(this.#wakes)) this.readAll();
  }

  /** There may be room for what could not begin. */
  advance(): void {
    this.#advance();
  }

  /** Nothing begins any more; what is under way is settled and recorded. */
  close(): void {
    this.#isOpen = false;
    this.#nextRetry.close();
    this.#firsts.clear();
    this.#retries.clear();
    // What was read and not attempted is due for the next holder.
    this.#wantsFirsts = true;
  }

  get isIdle(): boolean {
    const isWaiting = this.#firsts.length > 0 || this.#retries.length > 0 || this.#busy.size > 0;
    const isWanting = this.#wantsFirsts || this.#wantsRetries || this.#wantsSettings || this.#reading !== null;
    return !isWaiting && !isWanting && !this.#isFirstUnderWay && this.#retriesUnderWay === 0;
  }

  /** Whether the lease can go back: nothing to do for a while, or nothing to do at all. */
  isReleasable(idleMs: number): boolean {
    return this.isIdle && (this.#settings === null || performance.now() - this.#idleSinceMs > idleMs);
  }

  get isSlow(): boolean {
    return this.#meter.pace(this.#settings) === 'slow';
  }

  /** Since its oldest first attempt was due. */
  get oldestDueMs(): number {
    const { first } = this.#firsts;
    return first === undefined ? 0 : performance.now() - first.committedMs;
  }

  get state(): LaneState {
    const { endpointId, token } = this;
    return { endpointId, token, wakes: this.#wakes, dueInMs: this.#dueInMs() };
  }

  #dueInMs(): number | null {
    if (!this.isIdle) return 0;
    const { dueMs } = this.#nextRetry;
    if (this.#settings === null || dueMs === null) return null;
    return Math.max(0, dueMs - performance.now());
  }

  #advance(): void {
    if (!this.#isOpen || performance.now() < this.#pausedUntilMs) return;
    if (this.#needsReading()) void this.#read();
    if (!this.#mayBegin()) return;
    this.#beginFirst();
    this.#beginRetries();
  }

  #pause(ms: number): void {
    this.#pausedUntilMs = performance.now() + ms;
    // A timer may fire a fraction of a millisecond early.
    setTimeout(() => this.#advance(), ms + 1).unref();
  }

  /** An attempt may begin while the lease is safe, and there is room for its outcome. */
  #mayBegin(): boolean {
    const isLeaseSafe = this.#lease.safeUntilMs - performance.now() >= this.#parts.limits.leaseSlackMs;
    return this.#isOpen && isLeaseSafe && this.#goneUnrecorded === 0 && this.#parts.recorder.hasRoom(this.ownerId);
  }

  #needsReading(): boolean {
    return this.#reading === null && (this.#needsFirsts() || this.#needsRetries() || this.#wantsSettings);
  }

  /** From the start only without unrecorded first attempts, because they would be found, and made, once more. */
  #needsFirsts(): boolean {
    const canRead = this.#lastSequence > 0 || this.#firstsUnrecorded === 0;
    return this.#wantsFirsts && this.#firsts.length === 0 && canRead;
  }

  #needsRetries(): boolean {
    return this.#wantsRetries && this.#retries.length === 0 && this.#busy.size < RETRIES_READ;
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = null;
      this.#advance();
    });
    return this.#reading;
  }

  async #readOnce(): Promise<void> {
    const wantsFirsts = this.#needsFirsts();
    const wantsRetries = this.#needsRetries();
    // With new first attempts of a served endpoint, settings are read only before they are too old.
    const areKnown = this.#settings !== null && this.#areSettingsFresh(this.#parts.limits.settingsAgeMs / 2);
    const wantsSettings = this.#wantsSettings || wantsRetries || !areKnown;
    if (wantsFirsts) this.#wantsFirsts = false;
    if (wantsRetries) this.#wantsRetries = false;
    this.#wantsSettings = false;
    this.#recordedMeanwhile.clear();
    try {
      const firstsAfter = wantsFirsts ? this.#lastSequence : null;
      const asked = { ...this.state, ownerId: this.ownerId, wantsSettings, firstsAfter, wantsRetries };
      const reading = await this.#parts.reader.read(asked);
      if (this.#isOpen) this.#take(reading, firstsAfter);
      if (this.#isOpen && wantsRetries) this.#takeRetries(reading);
    } catch (err) {
      this.#parts.log.debug({ err, endpointId: this.endpointId }, 'a lane could not be read; trying again');
      this.#wantsFirsts ||= wantsFirsts;
      this.#wantsRetries ||= wantsRetries;
      this.#wantsSettings = true;
      this.#pause(RETRY_MS);
    }
    this.#idleSinceMs = performance.now();
  }

  #take({ readAtMs, settings, firsts, hasMoreFirsts }: Reading, firstsAfter: number | null): void {
    if (settings !== undefined) {
      this.#settings = settings?.isServed === true ? settings : null;
      this.#settingsFreshUntilMs = readAtMs + this.#parts.limits.settingsAgeMs;
      this.#wakes = settings?.wakes ?? this.#wakes;
    }
    if (this.#settings === null) {
      // Nothing is attempted until it is enabled again, which wakes the lane.
      this.#firsts.clear();
      this.#retries.clear();
      this.#wantsFirsts = this.#wantsRetries = false;
      return;
    }
    // They are to be read from the start since this reading began.
    if (firstsAfter !== null && firstsAfter !== this.#lastSequence) return;
    if (firsts.length > 0)
      this.#firsts.fill(firsts.map((first) => ({ ...first, committedMs: readAtMs - first.ageMs })));
    if (hasMoreFirsts) this.#wantsFirsts = true;
  }

  #takeRetries({ readAtMs, retries, mayHaveMoreRetries }: Reading): void {
    const isDone = (id: string): boolean => this.#busy.has(id) || this.#recordedMeanwhile.has(id);
    const waiting = retries.filter(({ deliveryId }) => !isDone(deliveryId));
    const due = waiting.flatMap(({ body, ...retry }) =>
      body === null ? [] : [{ ...retry, body, committedMs: readAtMs - retry.ageMs }],
    );
    this.#retries.fill(due);
    const later = waiting.find(({ body }) => body === null);
    if (later === undefined && mayHaveMoreRetries) this.#wantsRetries = true;
    const laterMs = later === undefined ? null : performance.now() + later.dueInMs;
    if (this.#recordedMeanwhile.size === 0) this.#nextRetry.set(laterMs);
    else this.#nextRetry.setEarlier(laterMs);
  }

  #beginFirst(): void {
    if (this.#isFirstUnderWay || this.#firsts.length === 0) return;
    this.#isFirstUnderWay = true;
    this.#track(this.#attemptFirst(), () => (this.#isFirstUnderWay = false));
  }

  #beginRetries(): void {
    const isFull = (): boolean => this.#retriesUnderWay >= this.#parts.limits.retriesAtOnce;
    while (!isFull() && this.#retriesAsking < this.#retries.length && this.#retryPacer.take()) {
      this.#retriesUnderWay += 1;
      this.#retriesAsking += 1;
      this.#track(this.#attemptRetry(), () => (this.#retriesUnderWay -= 1));
    }
  }

  #track(attempt: Promise<void>, onEnd: () => void): void {
    const { underWay } = this.#parts;
    const done = attempt.finally(() => {
      onEnd();
      underWay.delete(done);
      this.#idleSinceMs = performance.now();
      this.#advance();
    });
    underWay.add(done);
  }

  async #attemptFirst(): Promise<void> {
    const permit = await this.#permit();
    const first = permit === null ? undefined : this.#firsts.shift();
    if (first === undefined) return permit?.slot.free();
    this.#lastSequence = first.sequence;
    await this.#make(first, permit as Permit);
  }

  async #attemptRetry(): Promise<void> {
    const permit = await this.#permit().finally(() => (this.#retriesAsking -= 1));
    const retry = permit === null ? undefined : this.#retries.shift();
    if (retry === undefined) return permit?.slot.free();
    await this.#make(retry, permit as Permit);
  }

  /** A place for an attempt, with settings that are fresh when it begins; null when nothing may begin now. */
  async #permit(): Promise<Permit | null> {
    for (;;) {
      const asked = await this.#freshSettings();
      if (asked === null) return null;
      const { origin } = asked;
      const slot = await this.#parts.slots.take({ pace: this.#meter.pace(asked), origin, ownerId: this.ownerId });
      const settings = await this.#freshSettings();
      const secrets = settings === null || !this.#mayBegin() ? null : this.#secretsOf(settings);
      if (settings !== null && secrets !== null && settings.origin === origin) return { slot, settings, secrets };
      slot.free();
      if (settings === null || secrets === null) return null;
    }
  }

  /** Null when the endpoint is not served, or when its settings cannot be read now. */
  #freshSettings(): Promise<EndpointSettings | null> | EndpointSettings | null {
    const isKnown = this.#reading === null && !this.#wantsSettings && this.#areSettingsFresh();
    return isKnown ? this.#settings : this.#readSettings();
  }

  async #readSettings(): Promise<EndpointSettings | null> {
    // A reading that is under way may have begun before what is wanted of it.
    await this.#reading;
    if (!this.#areSettingsFresh() || this.#wantsSettings) await this.#read();
    return this.#isOpen && this.#areSettingsFresh() ? this.#settings : null;
  }

  #areSettingsFresh(forMs = 0): boolean {
    return performance.now() + forMs <= this.#settingsFreshUntilMs;
  }

  #secretsOf(settings: EndpointSettings): readonly Buffer[] | null {
    try {
      return this.#secrets.of(settings);
    } catch (err) {
      const { endpointId } = this;
      this.#parts.log.error({ err, endpointId }, 'deliveries wait: their signing secret cannot be read');
      this.#pause(SEALED_MS);
      return null;
    }
  }

  async #make(delivery: Due, permit: Permit): Promise<void> {
    this.#busy.add(delivery.deliveryId);
    if (delivery.attemptCount === 0) this.#firstsUnrecorded += 1;
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
      const nextMs = nextDelayMs === null ? null : settledMs + nextDelayMs;
      // Of an endpoint that is gone, everything is read again.
      this.#recorded(delivery, isEndpointGone && recording === 'recorded' ? 'ignored' : recording, nextMs);
    });
  }

  /** A delivery behind the last sequence is still due for its first attempt, so they are read from the start. */
  #repeatFirsts(): void {
    this.#firsts.clear();
    this.#lastSequence = 0;
    this.#wantsFirsts = true;
    if (this.#isOpen) this.#pause(REFUSED_MS);
  }

  /** Everything is read again, except after `recorded`, which changed nothing that is not known here. */
  #recorded({ deliveryId, attemptCount }: Due, recording: Recording, nextMs: number | null): void {
    if (attemptCount === 0) this.#firstsUnrecorded -= 1;
    if (recording === 'refused') this.#repeatFirsts();
    this.#busy.delete(deliveryId);
    if (this.#reading !== null) this.#recordedMeanwhile.add(deliveryId);
    this.#idleSinceMs = performance.now();
    if (!this.#isOpen) return;
    if (recording !== 'recorded') return this.readAll();
    // Of a retry, one more attempt may have been asked for meanwhile.
    if (attemptCount > 0) this.#wantsRetries = true;
    this.#nextRetry.setEarlier(nextMs);
    this.#advance();
  }
}
