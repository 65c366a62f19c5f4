import type { PeopleContext } from '../context.ts';
import type { Counted } from '../store/sign-in-attempts.ts';

export const TOO_MANY = 'Too many attempts failed. Try again in a few minutes.';

export type NotProved =
  | { readonly outcome: 'wrong' }
  | { readonly outcome: 'throttled'; readonly retryAfterSeconds: number };

export type ProofOutcome = NotProved | { readonly outcome: 'right' };

/** Checks a password, whose failures are counted: neither is a right one a failure, nor one that was not checked. */
export async function checkCounted(
  { attempts }: Pick<PeopleContext, 'attempts'>,
  counted: readonly Counted[],
  verify: () => Promise<boolean>,
): Promise<ProofOutcome> {
  const retryAfterSeconds = await attempts.begin(counted);
  if (retryAfterSeconds !== null) return { outcome: 'throttled', retryAfterSeconds };
  let isRight: boolean | null = null;
  try {
    isRight = await verify();
  } finally {
    if (isRight !== false) await attempts.takeBack(counted);
  }
  return { outcome: isRight ? 'right' : 'wrong' };
}
