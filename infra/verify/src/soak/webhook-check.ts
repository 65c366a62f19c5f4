import { verifyWebhook } from '@wts/client';
import type { WebhookEvent } from '@wts/contracts';
import { createHash } from 'node:crypto';
import { FINDINGS_MAX, type AuditFinding } from '../finding.ts';
import { isOff, reachOf, signersAt, type CheckedEndpoint, type Span } from './endpoint-history.ts';

/** A request that a consumer got, and what it answered. Times are milliseconds since 1970 on the clock of this machine. */
export interface Arrival {
  /** The name of the endpoint. */
  readonly endpoint: string;
  readonly atMs: number;
  readonly headers: { readonly [name: string]: string | undefined };
  readonly body: string;
  readonly answer: number | 'hang' | 'reset';
  /** The attempt ended no earlier than this. */
  readonly endedMs: number;
  /** An earlier request came on the same connection. */
  readonly isReused: boolean;
}

/** An entry of the log that has an event. */
export interface LoggedEvent {
  readonly position: string;
  readonly id: string;
  readonly type: string;
}

export interface WebhookLogs {
  readonly endpoints: readonly CheckedEndpoint[];
  /** In the order in which they arrived. */
  readonly arrivals: Iterable<Arrival> | AsyncIterable<Arrival>;
  /** Ascending. */
  readonly events: Iterable<LoggedEvent> | AsyncIterable<LoggedEvent>;
  /** The retry schedule: from the end of each attempt to the next one. */
  readonly stepsMs: readonly number[];
  /** After these a delivery may be repeated. */
  readonly kills: readonly Span[];
}

export interface WebhookReport {
  readonly findings: readonly AuditFinding[];
  readonly events: number;
  readonly deliveries: number;
  readonly attempts: number;
  readonly retries: number;
  /** Attempts that came again because a kill lost the outcome of the one before. */
  readonly repeats: number;
  /** Attempts on a new connection, because the consumer reset the one before. */
  readonly resends: number;
  /** Changes of endpoints: secrets rotated, times disabled, endpoints deleted. */
  readonly changes: { readonly rotated: number; readonly disabled: number; readonly deleted: number };
}

/** What has to be known about a delivery: of a hundred thousand of them it must fit into memory. */
interface Delivery {
  readonly id: string;
  readonly type: string;
  readonly digest: string;
  attempts: number;
  /** Attempts of which the dispatcher may know nothing. */
  lost: number;
  hasSucceeded: boolean;
  /** The dispatcher must know that an attempt succeeded. */
  isSettled: boolean;
  last: Pick<Arrival, 'atMs' | 'endedMs' | 'answer' | 'isReused'>;
  isExpected: boolean;
}

/** The outcomes of so many milliseconds before a kill may be lost, because PostgreSQL writes them to disk a little later. */
const BEFORE_KILL_MS = 2_000;
const AFTER_KILL_MS = 1_000;
/** An attempt without an answer ends after ten seconds, here with some time to connect. */
const HANG_MS_MAX = 12_000;
/** Clocks are read in whole milliseconds. */
const CLOCK_MS = 2;

/**
 * Compares what the consumers got with the log. Every event of the log reached every endpoint that takes it, and no event of
 * the time in which an endpoint was off; first attempts ascend; each attempt of a delivery has the same bytes and a valid
 * signature with every secret in force; attempts follow the schedule until one succeeds or the last one failed; and an attempt
 * too many or too early overlaps with a kill.
 */
export async function checkWebhooks({
  endpoints,
  arrivals,
  events,
  stepsMs,
  kills,
}: WebhookLogs): Promise<WebhookReport> {
  const findings = new Findings();
  const checks = new Map(endpoints.map((one) => [one.name, new EndpointCheck(one, { stepsMs, kills, findings })]));
  for await (const arrival of arrivals) {
    const check = checks.get(arrival.endpoint);
    if (check === undefined) findings.add('nothing-foreign', arrival.endpoint, 'is no endpoint and got a request');
    else await check.arrived(arrival);
  }
  let count = 0;
  for await (const event of events) {
    count += 1;
    for (const check of checks.values()) check.expect(event);
  }
  for (const check of checks.values()) check.end();
  const all = [...checks.values()];
  const sum = (of: (check: EndpointCheck) => number): number => all.reduce((total, check) => total + of(check), 0);
  return {
    findings: findings.all(),
    events: count,
    deliveries: sum(({ deliveries }) => deliveries),
    attempts: sum(({ attempts }) => attempts),
    retries: sum(({ retries }) => retries),
    repeats: sum(({ repeats }) => repeats),
    resends: sum(({ resends }) => resends),
    changes: changesOf(endpoints),
  };
}

/** The first secret and the gap before the creation are no changes; the last gap of a deleted endpoint is its deletion. */
function changesOf(endpoints: readonly CheckedEndpoint[]): WebhookReport['changes'] {
  const count = (of: (endpoint: CheckedEndpoint) => number): number => endpoints.reduce((sum, one) => sum + of(one), 0);
  const deleted = count(({ isDeleted }) => (isDeleted ? 1 : 0));
  return {
    rotated: count(({ secrets }) => secrets.length - 1),
    disabled: count(({ gaps }) => gaps.length - 1) - deleted,
    deleted,
  };
}

interface Rules extends Pick<WebhookLogs, 'stepsMs' | 'kills'> {
  readonly findings: Findings;
}

class EndpointCheck {
  attempts = 0;
  retries = 0;
  repeats = 0;
  resends = 0;
  readonly #endpoint: CheckedEndpoint;
  readonly #rules: Rules;
  readonly #deliveries = new Map<string, Delivery>();
  #lastFirst = 0n;
  #expected = 0;

  constructor(endpoint: CheckedEndpoint, rules: Rules) {
    this.#endpoint = endpoint;
    this.#rules = rules;
  }

  get deliveries(): number {
    return this.#deliveries.size;
  }

  async arrived(arrival: Arrival): Promise<void> {
    this.attempts += 1;
    const event = await this.#verified(arrival);
    if (event === null) return;
    const position = event.syncActionId ?? '';
    if (isOff(this.#endpoint, arrival.atMs, this.#rules.kills))
      this.#find('nothing-foreign', `${position} was attempted while the endpoint was disabled or deleted`);
    const digest = createHash('sha256').update(arrival.body).digest('base64');
    const delivery = this.#deliveries.get(position);
    if (delivery === undefined) this.#first(position, { event, digest }, arrival);
    else this.#next(position, { delivery, digest }, arrival);
  }

  /** Null when the request is no delivery. */
  async #verified({ headers, body, atMs }: Arrival): Promise<WebhookEvent | null> {
    const id = headers['webhook-id'];
    const { must, signaturesMax } = signersAt(this.#endpoint, atMs, this.#rules.kills);
    const signatures = headers['webhook-signature']?.split(' ').length ?? 0;
    if (signatures < must.length || signatures > signaturesMax)
      this.#find('signature-verifies', `delivery ${id} has ${signatures} signatures instead of ${must.length}`);
    try {
      for (const secret of must) await verifyWebhook(secret, headers, body, atMs);
      const event = JSON.parse(body) as WebhookEvent;
      if (event.id === id && /^\d+$/.test(event.syncActionId ?? '')) return event;
      this.#find('event-is-entry', `delivery ${id} has the body of event ${event.id} at ${event.syncActionId}`);
    } catch (error) {
      this.#find('signature-verifies', `delivery ${id}: ${(error as Error).message}`);
    }
    return null;
  }

  #first(position: string, { event, digest }: { event: WebhookEvent; digest: string }, arrival: Arrival): void {
    if (BigInt(position) < this.#lastFirst)
      this.#find('in-order', `the first attempt of ${position} came after that of ${this.#lastFirst}`);
    else this.#lastFirst = BigInt(position);
    this.#deliveries.set(position, {
      id: event.id,
      type: event.type,
      digest,
      attempts: 1,
      lost: 0,
      hasSucceeded: isSuccess(arrival),
      isSettled: isSuccess(arrival),
      last: outcomeOf(arrival),
      isExpected: false,
    });
  }

  #next(position: string, { delivery, digest }: { delivery: Delivery; digest: string }, arrival: Arrival): void {
    if (digest !== delivery.digest) this.#find('same-bytes', `attempts of ${position} have different bodies`);
    const { last } = delivery;
    const isNearKill = this.#isKillBetween(last, arrival.atMs);
    const fault = this.#faultOf(position, delivery, arrival);
    if (last.answer === 'reset' && last.isReused && !arrival.isReused && !delivery.isSettled) {
      // A reset on a reused connection is no answer: the dispatcher sends the request once more at once, as the same attempt.
      this.resends += 1;
      delivery.lost += 1;
    } else if (fault === null) {
      this.retries += 1;
      if (isNearKill) delivery.lost += 1;
    } else if (isNearKill) {
      this.repeats += 1;
      delivery.lost += 1;
      delivery.isSettled = false;
    } else this.#find(...fault);
    delivery.attempts += 1;
    delivery.hasSucceeded ||= isSuccess(arrival);
    delivery.isSettled ||= isSuccess(arrival);
    delivery.last = outcomeOf(arrival);
  }

  /** True when a kill may have lost the outcome of the attempt before. */
  #isKillBetween({ atMs, endedMs, answer }: Delivery['last'], nextMs: number): boolean {
    const endedMsMax = answer === 'hang' ? atMs + HANG_MS_MAX : endedMs;
    return this.#rules.kills.some(
      ({ fromMs, toMs }) => fromMs <= nextMs && fromMs - BEFORE_KILL_MS <= endedMsMax && atMs <= toMs + AFTER_KILL_MS,
    );
  }

  /** Why this attempt should not have been made now; null when it should. */
  #faultOf(
    position: string,
    { attempts, lost, isSettled, last }: Delivery,
    arrival: Arrival,
  ): [AuditFinding['guarantee'], string] | null {
    const { stepsMs } = this.#rules;
    const known = Math.max(1, attempts - lost);
    if (isSettled) return ['repeats-explained', `${position} was repeated after its success, far from any kill`];
    const stepMs = stepsMs[known - 1];
    if (stepMs === undefined)
      return ['attempts-end', `${position} had more than ${stepsMs.length + 1} attempts, far from any kill`];
    const earlyMs = last.endedMs + stepMs - arrival.atMs;
    if (earlyMs <= CLOCK_MS) return null;
    return ['retry-schedule', `attempt ${attempts + 1} of ${position} came ${earlyMs} ms before its time`];
  }

  expect({ position, id, type }: LoggedEvent): void {
    const { eventTypes } = this.#endpoint;
    if (eventTypes.length > 0 && !eventTypes.includes(type)) return;
    const reach = reachOf(this.#endpoint, BigInt(position));
    if (reach === 'must not') return;
    const delivery = this.#deliveries.get(position);
    const isDropped = this.#endpoint.isDeleted && BigInt(position) > this.#lastFirst;
    if (reach === 'must' && !isDropped) {
      this.#expected += 1;
      if (delivery === undefined) this.#find('nothing-missing', `${type} at ${position} was never attempted`);
    }
    if (delivery === undefined) return;
    delivery.isExpected = true;
    if (delivery.id !== id || delivery.type !== type)
      this.#find('event-is-entry', `${position} is ${type} ${id} and came as ${delivery.type} ${delivery.id}`);
  }

  end(): void {
    const attemptsMax = this.#rules.stepsMs.length + 1;
    const { isDeleted, isReplaced } = this.#endpoint;
    if (this.#expected === 0 && !isReplaced)
      this.#find('nothing-missing', 'the log has no event for it, so nothing was checked');
    for (const [position, { isExpected, type, hasSucceeded, attempts }] of this.#deliveries) {
      if (!isExpected) this.#find('nothing-foreign', `got ${type} at ${position}, which is no event for it`);
      if (!isDeleted && !hasSucceeded && attempts < attemptsMax)
        this.#find('nothing-missing', `${position} failed ${attempts} times and was not attempted again`);
    }
  }

  #find(guarantee: AuditFinding['guarantee'], seen: string): void {
    this.#rules.findings.add(guarantee, this.#endpoint.name, seen);
  }
}

/** Keeps the first findings of each kind of each endpoint, and counts the others. */
class Findings {
  readonly #kept: AuditFinding[] = [];
  readonly #counts = new Map<string, { readonly guarantee: AuditFinding['guarantee']; name: string; count: number }>();

  add(guarantee: AuditFinding['guarantee'], name: string, seen: string): void {
    const key = `${guarantee} ${name}`;
    const counted = this.#counts.get(key) ?? { guarantee, name, count: 0 };
    this.#counts.set(key, counted);
    counted.count += 1;
    if (counted.count <= FINDINGS_MAX) this.#kept.push({ guarantee, seen: `webhook ${name}: ${seen}` });
  }

  all(): AuditFinding[] {
    const more = [...this.#counts.values()].filter(({ count }) => count > FINDINGS_MAX);
    return [
      ...this.#kept,
      ...more.map(({ guarantee, name, count }) => ({
        guarantee,
        seen: `webhook ${name}: ${count - FINDINGS_MAX} more like these`,
      })),
    ];
  }
}

function isSuccess({ answer }: Arrival): boolean {
  return typeof answer === 'number' && answer < 300;
}

function outcomeOf({ atMs, endedMs, answer, isReused }: Arrival): Delivery['last'] {
  return { atMs, endedMs, answer, isReused };
}
