import { unsealSecret } from '@wts/service-kit/sealing';
import { userHandleOf, type ChallengeUse } from '../accounts/passkeys.ts';
import type { PeopleContext } from '../context.ts';
import { hashOfRecoveryCode } from '../domain/recovery-codes.ts';
import { sha256 } from '../domain/sha256.ts';
import { stepOfCode } from '../domain/totp.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { ACCOUNT_ISSUER } from '../store/accounts.ts';
import type { Passkey } from '../store/second-factors.ts';
import type { Counted } from '../store/sign-in-attempts.ts';
import type { ProofOutcome } from './check-counted.ts';
import { type Guest, signInPlacesOf } from './sign-in-by-password.ts';

export type FactorContext = Pick<
  PeopleContext,
  'factors' | 'passkeys' | 'attempts' | 'secretKeys' | 'identities' | 'record'
>;

/** Who proves something, and where. */
export interface Owner {
  readonly accountId: string;
  readonly userId: string;
}

/** What a person presents beside the password, or in place of it. */
export type Proof =
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'recovery code'; readonly code: string }
  | { readonly kind: 'passkey'; readonly answer: string; readonly use: ChallengeUse };

/** Keeps authentication.factors.once and authentication.factors.throttled. */
export async function checkSecondFactor(
  context: FactorContext,
  owner: Owner,
  proof: Proof,
  guest: Guest,
): Promise<ProofOutcome> {
  if (proof.kind === 'code') return checkCode(context, owner, proof.code, guest);
  if (proof.kind === 'recovery code') return checkRecoveryCode(context, owner, proof.code, guest);
  const passkey = await usePasskey(context, proof, guest);
  return { outcome: passkey?.accountId === owner.accountId ? 'right' : 'wrong' };
}

/**
 * A code has six digits, of which three codes are right at any moment. So failures are counted for a day too: with the password of
 * another person, an attacker finds a code with a chance of one in eleven thousand a day. Browsers in which the owner used a factor before
 * are counted apart, and recovery codes and passkeys are not counted, because no one guesses them: no attacker locks the owner out.
 */
async function checkCode(
  { factors, attempts, secretKeys, record }: FactorContext,
  { accountId, userId }: Owner,
  code: string,
  guest: Guest,
): Promise<ProofOutcome> {
  const browser = provenBrowser(guest);
  const isKnown = (await attempts.knownSignInPlaces(accountId, [browser])).length > 0;
  const counted = countedFor(isKnown ? [accountId, browser.toString('hex')] : [accountId]);
  const retryAfterSeconds = await attempts.begin(counted);
  if (retryAfterSeconds !== null) return { outcome: 'throttled', retryAfterSeconds };
  const app = await factors.findTotp(accountId);
  const step =
    app === null ? null : stepOfCode(unsealSecret(secretKeys, totpName(accountId), app), code, app.atSeconds);
  if (step === null || !(await factors.useTotp(accountId, step))) {
    await record.add({ kind: 'factor-failed', userId, accountId, visitor: guest.visitor, details: {} });
    return { outcome: 'wrong' };
  }
  await attempts.takeBack(counted);
  return { outcome: 'right' };
}

async function checkRecoveryCode(
  { record }: FactorContext,
  { accountId, userId }: Owner,
  code: string,
  { visitor }: Guest,
): Promise<ProofOutcome> {
  const isUsed = await record.act(async ({ factors, record: write }) => {
    if (!(await factors.useRecoveryCode(accountId, hashOfRecoveryCode(accountId, code)))) return false;
    await write({ kind: 'recovery-code-used', userId, accountId, visitor, details: {} });
    return true;
  });
  return { outcome: isUsed ? 'right' : 'wrong' };
}

/**
 * The passkey of an answer, which it proves; null for a wrong one. The challenge of an answer counts once, and the counter of a passkey
 * must advance: otherwise there are two of it. Keeps authentication.passkeys.challenge and authentication.passkeys.copy.
 */
export async function usePasskey(
  { factors, passkeys, identities, record }: Pick<FactorContext, 'factors' | 'passkeys' | 'identities' | 'record'>,
  { answer, use }: { readonly answer: string; readonly use: ChallengeUse },
  { visitor }: Pick<Guest, 'visitor'>,
): Promise<Passkey | null> {
  const credentialId = passkeys.credentialIdOf(answer);
  const passkey = credentialId === null ? null : await factors.findPasskey(credentialId);
  const assertion = passkey === null ? null : await passkeys.readAssertion(use, answer, passkey);
  if (passkey === null || assertion === null) return null;
  const { accountId } = passkey;
  if (assertion.userHandle !== null && assertion.userHandle !== userHandleOf(accountId)) return null;
  if (!(await factors.useChallenge(assertion.hash, assertion.expiresAt))) return null;
  if (await factors.usePasskey(passkey.id, assertion.signCount)) return passkey;
  const identity = await identities.find({ issuer: ACCOUNT_ISSUER, subject: accountId });
  const about = {
    ...(identity === null ? {} : { userId: identity.userId }),
    accountId,
    subjectId: passkey.id,
    visitor,
  };
  await record.add({ kind: 'passkey-copied', ...about, details: { passkey: passkey.name } });
  return null;
}

/** Where an owner signed in with both factors. Its browser counts for codes, and no other, because a password alone must add none. */
export function provenSignInPlacesOf(guest: Guest): Buffer[] {
  return [...signInPlacesOf(guest), provenBrowser(guest)];
}

function provenBrowser({ browserId }: Pick<Guest, 'browserId'>): Buffer {
  return sha256('browser with a second factor', browserId);
}

/** The name under which the secret of an app is sealed, so that it counts for its account alone. */
export function totpName(accountId: string): string {
  return `totp ${accountId}`;
}

function countedFor(whose: readonly string[]): Counted[] {
  const { codeFailuresMax: failuresMax, codeFailuresOfDayMax, codeFailuresDayMs: windowMs } = AUTH_LIMITS;
  return [
    { hash: sha256('code', ...whose), failuresMax },
    { hash: sha256('codes of a day', ...whose), failuresMax: codeFailuresOfDayMax, windowMs },
  ];
}
