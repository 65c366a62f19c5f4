import type { PeopleContext } from '../context.ts';
import type { Session } from '../store/sessions.ts';
import { endSecondStep, findSecondStep, type NextStep } from './begin-second-step.ts';
import { beginSession } from './begin-session.ts';
import type { NotProved } from './check-counted.ts';
import { checkSecondFactor, provenSignInPlacesOf, type FactorContext, type Proof } from './check-second-factor.ts';
import type { Guest } from './sign-in-by-password.ts';

type FinishContext = FactorContext & Pick<PeopleContext, 'accounts' | 'pending' | 'personOf'>;

interface Attempt {
  readonly step: string;
  readonly proof: Proof;
  /** The session that the browser has, which the new one replaces. */
  readonly session: Session | null;
}

type Finished =
  | NotProved
  | { readonly outcome: 'ended' }
  | { readonly outcome: 'right'; readonly secret: string; readonly next: NextStep };

/** Begins the session when the second factor is right, too. Keeps authentication.factors.second-step. */
export async function finishSecondStep(
  context: FinishContext,
  { step, proof, session }: Attempt,
  guest: Guest,
): Promise<Finished> {
  const found = await findSecondStep(context, step, guest.browserId);
  if (found === null) return { outcome: 'ended' };
  const { account, next } = found;
  const userId = await context.personOf(account);
  const checked = await checkSecondFactor(context, { accountId: account.id, userId }, proof, guest);
  if (checked.outcome !== 'right') return checked;
  if (!(await endSecondStep(context, step, guest.browserId))) return { outcome: 'ended' };
  await context.attempts.addSignInPlaces(account.id, provenSignInPlacesOf(guest));
  const method = `password and ${proof.kind}` as const;
  const begun = { userId, account, replaces: session, way: WAYS[proof.kind], method, visitor: guest.visitor };
  const secret = await beginSession(context, begun);
  return secret === null ? { outcome: 'ended' } : { outcome: 'right', secret, next };
}

const WAYS: Readonly<Record<Proof['kind'], string>> = {
  code: 'with a password and a code',
  'recovery code': 'with a password and a recovery code',
  passkey: 'with a password and a passkey',
};
