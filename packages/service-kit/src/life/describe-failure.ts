import { scrub } from '../observe/scrub.ts';
import { SetupError } from '../config/setup-error.ts';

/** For the terminal of an operator, without secrets: the message of what they can change, the stack of a bug. */
export function describeFailure(failure: unknown): string {
  if (failure instanceof SetupError) return scrub(failure.message);
  return scrub(failure instanceof Error ? (failure.stack ?? failure.message) : String(failure));
}
