import type { Fault } from '@wts/contracts';
import { FairQuota, tooManyAnswers, type NetworkOf, type QuotaHold } from '@wts/service-kit/fairness';
import { GRAPH_LIMITS } from '../limits.ts';

interface AnswersOptions {
  readonly bytesMax?: number;
  readonly networkOf?: NetworkOf | undefined;
}

/**
 * Bytes of answers in memory by network and person: of each from the first record that PostgreSQL sends for it until its client has
 * received it.
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
    if (!this.#held.admits(person, 0)) throw this.#refuse();
    return new AnswerBytes(this.#held, person, this.#refuse);
  }

  /** How long a client may receive nothing before its connection is closed. */
  stalledMs(person: string): number {
    return this.#held.stalledMs(person);
  }

  readonly #refuse = (): Fault => {
    this.#refused += 1;
    return tooManyAnswers();
  };
}

/** The bytes of one answer. Small ones do not count, because counting takes longer than they are in memory. */
export class AnswerBytes implements Disposable {
  readonly #quota: FairQuota;
  readonly #person: string;
  readonly #refuse: () => Fault;
  #bytes = 0;
  #hold: QuotaHold | undefined;
  #refusal: Fault | null = null;
  #isOver = false;

  constructor(quota: FairQuota, person: string, refuse: () => Fault) {
    this.#quota = quota;
    this.#person = person;
    this.#refuse = refuse;
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
    // A statement may send rows until it is cancelled; what it held now would not be released.
    if (this.#isOver) return true;
    if (this.#hold === undefined) {
      if (bytes <= GRAPH_LIMITS.answerBytesSmall) return true;
      this.#hold = this.#quota.hold(this.#person, bytes);
      if (this.#hold !== undefined) return true;
    } else if (more <= 0 || this.#quota.admits(this.#person, more)) {
      this.#hold.resize(bytes);
      return true;
    }
    this.#refusal = this.#refuse();
    this[Symbol.dispose]();
    return false;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#hold?.[Symbol.dispose]();
  }
}
