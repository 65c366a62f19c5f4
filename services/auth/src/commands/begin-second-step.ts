import { randomBytes } from 'node:crypto';
import { sha256 } from '../domain/sha256.ts';
import type { Account, AccountStore } from '../store/accounts.ts';
import type { PendingKey, PendingRequestStore } from '../store/pending-requests.ts';

/** What the person does after the sign-in: the request of an app or of a tool, or the invitation, that they came with. */
export type NextStep = Readonly<Record<'request' | 'connect' | 'invitation', string | undefined>>;

/** A sign-in whose password was right. */
interface PendingSignIn {
  readonly accountId: string;
  /** SHA-256 of the hash of the password: a change of the password ends the sign-in. */
  readonly passwordProof: string;
  readonly next: NextStep;
}

export interface StepContext {
  readonly accounts: Pick<AccountStore, 'find'>;
  readonly pending: PendingRequestStore;
}

/** Waits for the second factor of an account whose password was right, in this browser. Returns what only its page has. */
export async function beginSecondStep(
  { pending }: Pick<StepContext, 'pending'>,
  account: Account,
  next: NextStep,
  { browserId, network }: { readonly browserId: string; readonly network: string },
): Promise<string> {
  const step = randomBytes(32).toString('base64url');
  const content: PendingSignIn = { accountId: account.id, passwordProof: proofOf(account), next };
  await pending.insert(keyOf(step, browserId), content, { network });
  return step;
}

/** The account that waits, and what its person does next. Null when the step has ended, or is of another browser. */
export async function findSecondStep(
  { accounts, pending }: StepContext,
  step: string,
  browserId: string,
): Promise<{ readonly account: Account; readonly next: NextStep } | null> {
  const found = await pending.find<PendingSignIn>(keyOf(step, browserId));
  const account = found === null ? null : await accounts.find(found.accountId);
  if (found === null || account === null || proofOf(account) !== found.passwordProof) return null;
  return { account, next: found.next };
}

/** Ends the step. False when it has ended. */
export async function endSecondStep(
  { pending }: Pick<StepContext, 'pending'>,
  step: string,
  browserId: string,
): Promise<boolean> {
  return (await pending.take(keyOf(step, browserId))) !== null;
}

function proofOf({ passwordHash }: Account): string {
  return sha256('password of a pending sign-in', passwordHash).toString('hex');
}

function keyOf(step: string, browserId: string): PendingKey {
  return { idHash: sha256(step), kind: 'factor', browserHash: sha256(browserId) };
}
