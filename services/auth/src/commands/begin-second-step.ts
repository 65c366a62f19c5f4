import { randomBytes } from 'node:crypto';
import type { PeopleContext } from '../context.ts';
import { sha256 } from '../domain/sha256.ts';
import type { Account } from '../store/accounts.ts';
import { pendingKey } from '../store/pending-requests.ts';
import type { Guest } from './sign-in-by-password.ts';

/** What the person does after the sign-in: the request of an app or of a tool, or the invitation, that they came with. */
export type NextStep = Readonly<Record<'request' | 'connect' | 'invitation', string | undefined>>;

/** A sign-in whose password was right. */
interface PendingSignIn {
  readonly accountId: string;
  /** SHA-256 of the hash of the password: a change of the password ends the sign-in. */
  readonly passwordProof: string;
  readonly next: NextStep;
}

/** Waits for the second factor of an account whose password was right, in this browser. Returns what only its page has. */
export async function beginSecondStep(
  { pending }: Pick<PeopleContext, 'pending'>,
  account: Account,
  next: NextStep,
  { browserId, network }: Pick<Guest, 'browserId' | 'network'>,
): Promise<string> {
  const step = randomBytes(32).toString('base64url');
  const content: PendingSignIn = { accountId: account.id, passwordProof: proofOf(account), next };
  await pending.insert(pendingKey('factor', step, browserId), content, { network });
  return step;
}

/** The account that waits, and what its person does next. Null when the step has ended, or is of another browser. */
export async function findSecondStep(
  { accounts, pending }: Pick<PeopleContext, 'accounts' | 'pending'>,
  step: string,
  browserId: string,
): Promise<{ readonly account: Account; readonly next: NextStep } | null> {
  const found = await pending.find<PendingSignIn>(pendingKey('factor', step, browserId));
  const account = await accounts.find(found?.accountId ?? null);
  if (found === null || account === null || proofOf(account) !== found.passwordProof) return null;
  return { account, next: found.next };
}

/** Ends the step. False when it has ended. */
export async function endSecondStep(
  { pending }: Pick<PeopleContext, 'pending'>,
  step: string,
  browserId: string,
): Promise<boolean> {
  return (await pending.take(pendingKey('factor', step, browserId))) !== null;
}

function proofOf({ passwordHash }: Account): string {
  return sha256('password of a pending sign-in', passwordHash).toString('hex');
}
