import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { parseSecretKeys, sealSecret } from '@wts/service-kit/sealing';
import { Registry } from 'prom-client';
import type { AttemptResult } from '../src/domain/attempt.ts';
import { parseRetrySchedule } from '../src/domain/schedule.ts';
import { makeSecret } from '../src/domain/secrets.ts';
import { Lane, type LaneParts, type ReplicaLease } from '../src/lanes/lane.ts';
import { laneMetrics } from '../src/lanes/metrics.ts';
import { RETRIES_READ, type ReadRequest, type Reading } from '../src/lanes/reader.ts';
import type { Recording, SettledOutcome } from '../src/lanes/recorder.ts';
import { Slots } from '../src/lanes/slots.ts';
import { DISPATCH } from '../src/limits.ts';
import type { EndpointSettings } from '../src/store/lanes.ts';
import { quiet } from './quiet.ts';

const ENDPOINT = 'endpoint';
const KEYS = parseSecretKeys(randomBytes(32).toString('base64'));
const SECRET = { ...sealSecret(KEYS, ENDPOINT, makeSecret()), createdAt: new Date(0), expiresAt: null };
/** Pauses of a millisecond, so that a run takes a few. */
const LIMITS = { ...DISPATCH, windowRows: 3, laneRetryMs: 1, refusedMs: 1, retryPaceMs: 1 };

export type Ending = 'success' | 'failure' | 'gone' | 'refused';

interface Row {
  readonly id: string;
  readonly sequence: number;
  status: 'pending' | 'succeeded' | 'failed';
  attemptCount: number;
  scheduledAttempts: number;
  scheduledMs: number | null;
  manual: number | null;
  /** Tokens of the lanes whose attempt of it is under way or unrecorded. */
  readonly underWay: Set<string>;
  isAttempted: boolean;
  isSettled: boolean;
  /** The lane that recorded how it ended. */
  endedBy: string | null;
}

/** Something that is in progress outside of the lane; each call of one of its steps is an event of the test. */
type Pending = (ending: Ending) => void;

/**
 * What surrounds a lane: time, the tables of PostgreSQL with the rules of the statements in `store/`, an endpoint, and replicas that hold the
 * lane in turn. Everything that takes time (a reading, an attempt, a record) waits until the test continues it, and what must hold is
 * asserted whenever an attempt begins.
 */
export class LaneModel {
  readonly rows: Row[] = [];
  readonly pending: Pending[] = [];
  #isServed = true;
  #wakes = 0;
  #token = 0;
  #isDue = false;
  #manuals = 0;
  #lane: Lane | null = null;
  #lease: ReplicaLease = { safeUntilMs: 0 };
  /** Tokens of lanes with an answer of 410 that is not recorded yet. */
  readonly #gone: string[] = [];
  /** What was wrong: an attempt that throws would count as failed. */
  readonly #faults: string[] = [];
  /** It would end a process, but mocha ignores it. */
  readonly #onRejection = (reason: unknown): void => void this.#faults.push(`unhandled: ${String(reason)}`);
  #nowMs = 1_000;

  constructor() {
    process.on('unhandledRejection', this.#onRejection);
    mock.timers.enable({ apis: ['setTimeout'] });
    mock.method(performance, 'now', () => this.#nowMs);
    this.#claim(false);
  }

  get isSettled(): boolean {
    return this.rows.every(({ status }) => status !== 'pending');
  }

  enqueue(count: number, isWoken: boolean): void {
    for (let made = 0; made < count; made += 1) this.rows.push(newRow(this.rows.length + 1));
    this.#changed();
    if (isWoken) this.#lane?.wake();
  }

  setServed(isServed: boolean): void {
    if (isServed && !this.#isServed) this.#changed();
    this.#isServed = isServed;
    this.#lane?.readAll();
  }

  retry(which: number): void {
    const row = this.rows[which % Math.max(1, this.rows.length)];
    if (row === undefined || row.attemptCount === 0) return;
    row.manual = this.#manuals += 1;
    row.status = 'pending';
    this.#changed();
    this.#lane?.readAll();
  }

  /** Continues something in progress by one step. */
  proceed(which: number, ending: Ending): void {
    const [next] = this.pending.splice(which % Math.max(1, this.pending.length), 1);
    next?.(ending);
  }

  /** Another replica takes the lane over; the one before may continue without knowing it. */
  takeOver(isSuspended: boolean): void {
    this.#lease.safeUntilMs = 0;
    if (!isSuspended) this.#lane?.close();
    this.#claim(true);
  }

  pass(ms: number): void {
    for (let passed = 0; passed < ms; passed += 1) {
      this.#nowMs += 1;
      mock.timers.tick(1);
    }
  }

  /** A replica stops: its lane goes back when nothing of it is in progress. */
  stop(): void {
    if (this.#lane === null || this.pending.length > 0) return;
    this.#lane.close();
    this.#release(this.#lane);
  }

  /** As a replica does it twice a second. */
  poll(): void {
    if (this.#lane === null) {
      if (this.#isDue) this.#claim(false);
      return;
    }
    this.#lane.noteWakes(String(this.#wakes));
    if (!this.#lane.isReleasable(0)) return;
    const lane = this.#lane;
    this.#release(lane);
    lane.close();
  }

  /** Continues and polls until every delivery has ended. */
  async settle(): Promise<void> {
    for (let polls = 0; !this.isSettled; polls += 1) {
      if (!this.#isServed) this.setServed(true);
      assert(polls < 5_000, `forgotten: ${JSON.stringify(this.rows.filter(({ status }) => status === 'pending'))}`);
      this.poll();
      for (let left = this.pending.length; left > 0; left -= 1) this.proceed(0, 'success');
      await turn();
      this.pass(1);
    }
    assert.deepEqual(this.#faults, []);
  }

  #require(isRight: boolean, otherwise: string): void {
    if (!isRight) this.#faults.push(otherwise);
  }

  [Symbol.dispose](): void {
    this.#lane?.close();
    process.off('unhandledRejection', this.#onRejection);
    mock.reset();
    mock.timers.reset();
  }

  /** A lane that is due later counts as due: another replica would only claim it later. */
  #release({ state: { wakes, dueInMs } }: Lane): void {
    if (String(this.#wakes) === wakes) this.#isDue = dueInMs !== null;
    this.#lease.safeUntilMs = 0;
    this.#lane = null;
  }

  #changed(): void {
    this.#wakes += 1;
    this.#isDue = true;
  }

  #claim(isTakenOver: boolean): void {
    this.#token += 1;
    const [token, lease] = [String(this.#token), { safeUntilMs: Number.POSITIVE_INFINITY }];
    this.#lease = lease;
    const leased = { endpointId: ENDPOINT, ownerId: 'owner', token, wakes: String(this.#wakes), isTakenOver };
    this.#lane = new Lane(leased, lease, this.#partsOf(token, lease));
    this.#lane.readAll();
  }

  #partsOf(token: string, lease: ReplicaLease): LaneParts {
    return {
      reader: { read: (ask) => this.#read(ask) },
      recorder: { hasRoom: () => true, add: (_, outcome, onRecorded) => this.#record(token, outcome, onRecorded) },
      send: ({ eventId }) => this.#attempt(eventId, token, lease),
      countBegun: async (begun) =>
        begun.token === String(this.#token) && this.#row(begun.deliveryId).status === 'pending',
      slots: new Slots(LIMITS),
      schedule: parseRetrySchedule('1ms,1ms,1ms,1ms,1ms,1ms,1ms'),
      metrics: laneMetrics(new Registry()),
      keys: KEYS,
      held: { characters: 0 },
      underWay: new Set(),
      limits: LIMITS,
      log: quiet,
    };
  }

  #row(id: string): Row {
    return this.rows[Number(id) - 1] as Row;
  }

  /** First the statement, then its answer. */
  #read(ask: ReadRequest): Promise<Reading> {
    return new Promise((resolve, reject) => {
      this.pending.push((ending) => {
        if (ending === 'refused') return reject(new Error('PostgreSQL is away'));
        const reading = this.#readingOf(ask);
        this.pending.push(() => resolve(reading));
      });
    });
  }

  #readingOf({ wantsSettings, firstsAfter, wantsRetries }: ReadRequest): Reading {
    const readAtMs = performance.now();
    const isRead = !wantsSettings || this.#isServed;
    const pending = this.rows.filter(({ status }) => status === 'pending' && isRead);
    const firsts = pending.filter(({ attemptCount, sequence }) => attemptCount === 0 && sequence > (firstsAfter ?? 0));
    const dueMs = ({ scheduledMs, manual }: Row): number =>
      (manual === null ? (scheduledMs ?? Infinity) : 0) - readAtMs;
    const retries = pending.filter(({ attemptCount }) => attemptCount > 0).toSorted((a, b) => dueMs(a) - dueMs(b));
    return {
      readAtMs,
      settings: wantsSettings ? this.#settings(readAtMs) : undefined,
      firsts: firstsAfter === null ? [] : firsts.slice(0, LIMITS.windowRows).map(deliveryOf),
      hasMoreFirsts: firstsAfter !== null && firsts.length > LIMITS.windowRows,
      retries: wantsRetries
        ? retries.slice(0, RETRIES_READ).map((row) => ({
            ...deliveryOf(row),
            body: dueMs(row) <= 0 ? row.id : null,
            dueInMs: dueMs(row),
            manualAt: row.manual === null ? null : String(row.manual),
          }))
        : [],
      mayHaveMoreRetries: wantsRetries && retries.length >= RETRIES_READ,
    };
  }

  #settings(readAtMs: number): EndpointSettings {
    return {
      endpointId: ENDPOINT,
      url: 'https://consumer.example/hook',
      origin: 'https://consumer.example',
      isServed: this.#isServed,
      hasSucceeded: true,
      consecutiveFailures: 0,
      wakes: String(this.#wakes),
      secrets: [SECRET],
      clockMs: Date.now() - readAtMs,
    };
  }

  #attempt(id: string, token: string, lease: ReplicaLease): Promise<AttemptResult> {
    const row = this.#row(id);
    this.#require(lease.safeUntilMs > 0, 'an attempt began without a lease');
    this.#require(!row.underWay.has(token), 'an attempt began while another one of the delivery is not recorded');
    const isRepeated = row.status !== 'pending' && row.endedBy === token;
    this.#require(!isRepeated, `an attempt began of a delivery that had ${row.status}`);
    const before = this.rows.slice(0, row.sequence - 1);
    const isInOrder = row.isAttempted || before.every(({ isSettled }) => isSettled);
    this.#require(isInOrder, 'a first attempt began before one of a lower sequence had ended');
    this.#require(!this.#gone.includes(token), 'an attempt began of an endpoint that answered 410');
    row.isAttempted = true;
    row.underWay.add(token);
    return new Promise((resolve) => {
      this.pending.push((ending) => {
        row.isSettled = true;
        if (ending === 'gone') this.#gone.push(token);
        resolve(resultOf(ending));
      });
    });
  }

  /** First the statement, then its answer. */
  #record(token: string, outcome: SettledOutcome, onRecorded: (recording: Recording) => void): void {
    this.#require(outcome.token === token, 'an outcome has the token of another lane');
    this.pending.push((ending) => {
      const recording = ending === 'refused' ? 'refused' : this.#recordingOf(outcome);
      this.pending.push(() => {
        this.#row(outcome.deliveryId).underWay.delete(token);
        if (outcome.statusCode === 410) this.#gone.splice(this.#gone.indexOf(token), 1);
        onRecorded(recording);
      });
    });
  }

  #recordingOf(outcome: SettledOutcome): Recording {
    const row = this.#row(outcome.deliveryId);
    const isSuccess = outcome.error === null;
    const isHeld = outcome.token === String(this.#token) && outcome.attemptCount === row.attemptCount;
    if (row.status !== 'pending' || (!isSuccess && !isHeld)) return 'ignored';
    row.attemptCount += 1;
    if (outcome.manualAt === null) {
      row.scheduledAttempts += 1;
      row.scheduledMs = outcome.nextDelayMs === null ? null : outcome.settledMs + outcome.nextDelayMs;
    }
    if (isSuccess || outcome.manualAt === (row.manual === null ? null : String(row.manual))) row.manual = null;
    if (isSuccess) row.status = 'succeeded';
    else if (row.scheduledMs === null && row.manual === null) row.status = 'failed';
    if (row.status !== 'pending') row.endedBy = outcome.token;
    if (outcome.statusCode === 410) this.#isServed = false;
    return 'recorded';
  }
}

function newRow(sequence: number): Row {
  const ended = { isAttempted: false, isSettled: false, endedBy: null };
  const counts = { attemptCount: 0, scheduledAttempts: 0, scheduledMs: null, manual: null };
  return { id: String(sequence), sequence, status: 'pending', underWay: new Set(), ...counts, ...ended };
}

function deliveryOf({ id, sequence, attemptCount, scheduledAttempts }: Row) {
  const at = { eventAt: '2026-11-25 00:00:00+00', ageMs: 0, found: 0 };
  const delivery = { endpointId: ENDPOINT, deliveryId: id, eventId: id, body: id, sequence, manualAt: null };
  return { ...at, ...delivery, attemptCount, scheduledAttempts, unrecordedAttempts: 0 };
}

const STATUS: Readonly<Record<Ending, number>> = { success: 200, failure: 500, gone: 410, refused: 500 };

function resultOf(ending: Ending): AttemptResult {
  const error = ending === 'success' ? null : 'http_status';
  return { startedAt: new Date(), durationMs: 1, statusCode: STATUS[ending], error, snippet: null, retryAfterMs: null };
}
