import { Fault, LIMITS, randomRetryAfterSeconds } from '@wts/contracts';
import { FairQuota, type NetworkOf, type QuotaHold } from '@wts/service-kit/fairness';
import { GRAPH_LIMITS } from '../limits.ts';

interface AnswersOptions {
  readonly bytesMax?: number;
  readonly networkOf?: NetworkOf | undefined;
}

/**
 * Bytes of answers in memory by network and person: of each from the first record that PostgreSQL sends for it until its client has received it.
 * A request of a kilobyte may have an answer of 32 MiB, and a client that does not read keeps it in memory; so a person has a quarter
 * of what the others leave, and more is refused. Keeps graphql.limit.answers.
 */
export class Answers {
  readonly #held: FairQuota;
  #refused = 0;

  constructor({ bytesMax = GRAPH_LIMITS.answersBytesMax, networkOf }: AnswersOptions = {}) {
    this.#held = new FairQuota(bytesMax, { networkOf });
  }

  get bytes(): number {
    return this.#held.total;
  }

  /** Requests that were refused. */
  get refused(): number {
    return this.#refused;
  }

  /** The answer of a new request. Throws when this person has too many unread ones. The caller disposes of it when it is sent. */
  open(person: string): AnswerBytes {
    const hold = this.#held.hold(person, 0);
    if (hold === undefined) throw this.#refusal();
    return new AnswerBytes(hold, (more) => (this.#held.admits(person, more) ? null : this.#refusal()));
  }

  /** How long a client may receive nothing before its connection is closed. */
  stalledMs(person: string): number {
    return this.#held.isTight(person) ? LIMITS.answerStalledTightMs : LIMITS.answerStalledMs;
  }

  #refusal(): Fault {
    this.#refused += 1;
    return new Fault('unavailable', {
      message: 'Too many answers are waiting for you to read them; read them, or try again shortly',
      retryAfterSeconds: randomRetryAfterSeconds(),
    });
  }
}

/** The bytes of one answer. */
export class AnswerBytes implements Disposable {
  readonly #hold: QuotaHold;
  readonly #refusalOf: (more: number) => Fault | null;
  #bytes = 0;
  #refusal: Fault | null = null;

  constructor(hold: QuotaHold, refusalOf: (more: number) => Fault | null) {
    this.#hold = hold;
    this.#refusalOf = refusalOf;
  }

  /** Why nothing more of it is read, once that is so. */
  get refusal(): Fault | null {
    return this.#refusal;
  }

  /** Counts what was received from PostgreSQL. False when it is too much, so that the rest must not be. */
  add(bytes: number, bytesMax: number): boolean {
    return this.resize(this.#bytes + bytes) && this.#bytes <= bytesMax;
  }

  /** Sets what it takes in all. False when this person may not have so much; the request is then refused. */
  resize(bytes: number): boolean {
    if (this.#refusal !== null) return false;
    const more = bytes - this.#bytes;
    this.#bytes = bytes;
    if (more > 0) this.#refusal = this.#refusalOf(more);
    this.#hold.resize(this.#refusal === null ? bytes : 0);
    return this.#refusal === null;
  }

  [Symbol.dispose](): void {
    this.#hold[Symbol.dispose]();
  }
}
