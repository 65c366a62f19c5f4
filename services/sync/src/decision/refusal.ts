import type { ErrorCode } from '@wts/contracts';
import { SYNC_LIMITS } from '../limits.ts';

/** The result of a unit that is not allowed or not possible: a value, not a fault. Keeps sync.mutate.results. */
export interface Refusal {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly error: string;
}

/**
 * Thrown by a rule that refuses the unit, and caught where units are decided (`decide-batch.ts`). People read the message, and clients
 * retry on certain words in it, so it never holds SQL, a value from outside, or the words network, fetch, timeout and aborted.
 */
export class Refused extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  get refusal(): Refusal {
    return { ok: false, code: this.code, error: this.message };
  }
}

/** A unit changes more than one transaction should. */
export class ChangeTooLarge extends Refused {
  constructor(message: string) {
    super('conflict', message);
  }
}

export const TOO_MANY_RECORDS = `This change affects more than ${SYNC_LIMITS.unitEntriesMax} records; make it in smaller steps`;
export const TOO_MUCH_TEXT = 'The records that this change affects are too large together; make it in smaller steps';

export function notFound(field: string, modelName: string): Refused {
  return new Refused('not_found', `${field}: ${modelName} not found`);
}
