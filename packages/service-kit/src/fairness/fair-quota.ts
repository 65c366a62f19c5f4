import { Fault, randomRetryAfterSeconds } from '@wts/contracts';
import { SERVICE_LIMITS } from '../limits.ts';
import { eachAlone, type NetworkOf } from './caller-networks.ts';
import { SHARE } from './contention.ts';

/** The part of what the others leave that one network may hold; one person may hold `SHARE`. */
const NETWORK_SHARE = 3 / 4;

interface QuotaOptions {
  /** For work that has started already; `admits` leaves it free. */
  readonly reserved?: number;
  readonly networkOf?: NetworkOf | undefined;
}

interface Held {
  /** The network of the person when they had nothing. */
  readonly network: string;
  amount: number;
}

export interface QuotaHold extends Disposable {
  /** Corrects the amount. */
  resize(amount: number): void;
}

/**
 * Counts how much each person holds of a resource that only its holder gives back: bytes of disk or memory, answers that are
 * sent at the pace of their clients. Turns cannot divide such a resource as they divide slots; so each person has a bound,
 * a quarter of what the others leave, and each network three quarters; so something is always left for the next one.
 */
export class FairQuota {
  readonly #max: number;
  readonly #reserved: number;
  readonly #networkOf: NetworkOf;
  readonly #people = new Map<string, Held>();
  readonly #networks = new Map<string, number>();
  #total = 0;

  constructor(max: number, { reserved = 0, networkOf = eachAlone }: QuotaOptions = {}) {
    this.#max = max;
    this.#reserved = reserved;
    this.#networkOf = networkOf;
  }

  get total(): number {
    return this.#total;
  }

  of(person: string): number {
    return this.#people.get(person)?.amount ?? 0;
  }

  /** Takes an amount without a check; a negative one gives back. */
  add(person: string, amount: number): void {
    this.#total += amount;
    const held = this.#people.get(person) ?? { network: this.#networkOf(person), amount: 0 };
    held.amount += amount;
    if (held.amount === 0) this.#people.delete(person);
    else this.#people.set(person, held);
    const left = (this.#networks.get(held.network) ?? 0) + amount;
    if (left === 0) this.#networks.delete(held.network);
    else this.#networks.set(held.network, left);
  }

  move(from: string, to: string, amount: number): void {
    this.add(from, -amount);
    this.add(to, amount);
  }

  /** Takes an amount until it is disposed of; undefined when the person may not. */
  hold(person: string, amount: number): QuotaHold | undefined {
    if (!this.admits(person, amount)) return undefined;
    let held = 0;
    let isHeld = true;
    const resize = (wanted: number): void => {
      if (!isHeld) return;
      this.add(person, wanted - held);
      held = wanted;
    };
    resize(amount);
    return {
      resize,
      [Symbol.dispose]: () => {
        resize(0);
        isHeld = false;
      },
    };
  }

  /**
   * Whether this person may start something that takes this amount: a share of what the others leave. Each person's maximum
   * leaves some for the next one, so a few people together cannot take all of it.
   */
  admits(person: string, amount: number): boolean {
    const free = this.#max - this.#total - amount;
    return (
      (this.of(person) + amount) * (1 - SHARE) <= free * SHARE &&
      (this.#ofNetworkOf(person) + amount) * (1 - NETWORK_SHARE) <= free * NETWORK_SHARE &&
      free >= this.#reserved
    );
  }

  /** Whether so much is held that nothing new may start. */
  get isShort(): boolean {
    return this.#total > this.#max - this.#reserved;
  }

  /** Whether this person should give back soon: they, or their network, hold more than a share while more than half is taken, or it is short. */
  isTight(person: string): boolean {
    const isOver = this.of(person) > this.#max * SHARE || this.#ofNetworkOf(person) > this.#max * NETWORK_SHARE;
    return (isOver && this.#total > this.#max / 2) || this.isShort;
  }

  /** How long a client of this person may receive nothing of an answer that counts here before its connection is closed. */
  stalledMs(person: string): number {
    return this.isTight(person) ? SERVICE_LIMITS.answerStalledTightMs : SERVICE_LIMITS.answerStalledMs;
  }

  /** Whether started work of this person must end: they hold more than half, or nothing is left. */
  isFull(person: string): boolean {
    return this.#total > this.#max || this.of(person) > this.#max / 2;
  }

  #ofNetworkOf(person: string): number {
    return this.#networks.get(this.#people.get(person)?.network ?? this.#networkOf(person)) ?? 0;
  }
}

/** What a request gets whose person holds too many answers already. */
export function tooManyAnswers(): Fault {
  return new Fault('unavailable', {
    message: 'Too many answers are waiting for you to read them; read them, or try again shortly',
    retryAfterSeconds: randomRetryAfterSeconds(),
  });
}
