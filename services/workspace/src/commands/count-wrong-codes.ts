import { Fault, type ErrorCode, type Principal } from '@wts/contracts';
import type { Context } from '../context.ts';

/** Faults that answer whether a code is that of an invitation. */
const OF_THE_CODE: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['not_found', 'invitation_expired', 'wrong_address']);

/**
 * Bounds the wrong invitation codes of a person, whichever surface sends them: this service alone knows that a code is wrong. People
 * who are not signed in have no count here; the gateway bounds their wrong codes by network. Keeps limits.rate.codes.
 */
export async function countWrongCodes<T>(
  { wrongCodes, wrongCodesPerMinuteMax: max }: Pick<Context, 'wrongCodes' | 'wrongCodesPerMinuteMax'>,
  { userId, credential }: Principal,
  attempt: () => Promise<T>,
): Promise<T> {
  if (max === 0 || credential.kind === 'service') return attempt();
  const counted = await wrongCodes.begin(userId, max);
  if ('retryAfterSeconds' in counted) throw new Fault('rate_limited', counted);
  let isWrong = false;
  try {
    return await attempt();
  } catch (failure) {
    isWrong = failure instanceof Fault && OF_THE_CODE.has(failure.code);
    throw failure;
  } finally {
    // Without it, the attempt counts until the minute ends; the result of the attempt stays.
    if (!isWrong) await wrongCodes.takeBack(userId, counted.window).catch(() => undefined);
  }
}
