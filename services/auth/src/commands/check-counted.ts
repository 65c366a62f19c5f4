import type { PeopleContext } from '../context.ts';
import type { Counted } from '../store/sign-in-attempts.ts';

export const TOO_MANY = 'Too many attempts failed. Try again in a few minutes.';

/**
 * Checks a password, whose failures are counted: neither is a right one a failure, nor one that was not checked. After too many it returns the
 * seconds until the next attempt.
 */
export async function checkCounted(
  { attempts }: Pick<PeopleContext, 'attempts'>,
  counted: readonly Counted[],
  verify: () => Promise<boolean>,
): Promise<boolean | number> {
  const retryAfterSeconds = await attempts.begin(counted);
  if (retryAfterSeconds !== null) return retryAfterSeconds;
  let isRight: boolean | null = null;
  try {
    isRight = await verify();
  } finally {
    if (isRight !== false) await attempts.takeBack(counted);
  }
  return isRight;
}
