import { Fault } from '@wts/contracts';
import { sealSecret, unsealSecret, type SealedSecret } from '@wts/service-kit/sealing';
import { randomBytes, randomUUID } from 'node:crypto';
import type { ChallengeUse } from '../accounts/passkeys.ts';
import type { PeopleContext } from '../context.ts';
import { hashOfRecoveryCode, newRecoveryCodes } from '../domain/recovery-codes.ts';
import type { Visitor } from '../domain/security-event.ts';
import { shownName } from '../domain/shown-name.ts';
import { stepOfCode, TOTP_SECRET_BYTES } from '../domain/totp.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { pendingKey } from '../store/pending-requests.ts';
import type { SecondFactorStore } from '../store/second-factors.ts';
import type { Act } from '../record/security-record.ts';
import { totpName, type FactorContext, type Owner } from './check-second-factor.ts';
import type { Guest } from './sign-in-by-password.ts';

/** Recovery codes that were made with a first factor, to be shown once; null when the person has some. */
export interface Added {
  readonly recoveryCodes: readonly string[] | null;
}

interface NewPasskey {
  readonly answer: string;
  readonly name: string;
  readonly use: ChallengeUse;
}

/** Returns what is wrong as a sentence, or what was made. Keeps authentication.factors.recovery. */
export async function addPasskey(
  { passkeys, factors, record }: FactorContext,
  { accountId, userId }: Owner,
  { answer, name: typed, use }: NewPasskey,
  visitor: Visitor,
): Promise<Added | string> {
  const read = await passkeys.readCreation(use, answer);
  if (read === null || !(await factors.useChallenge(read.hash, read.expiresAt)))
    return 'The passkey was not created. Try again.';
  const name = shownName(typed, AUTH_LIMITS.passkeyNameMax) || 'Passkey';
  const { credentialId, publicKey, signCount, transports } = read;
  const key = { id: randomUUID(), accountId, credentialId, publicKey, signCount, transports, name };
  return record.act(async ({ factors: store, record: write }) => {
    await store.lock(accountId);
    if (!(await store.addPasskey(key, AUTH_LIMITS.passkeysPerAccountMax)))
      return `This passkey is registered already, or you have ${AUTH_LIMITS.passkeysPerAccountMax} passkeys. Remove one first.`;
    const about = { userId, accountId, subjectId: key.id, visitor };
    await write({ kind: 'factor-added', ...about, details: { factor: `the passkey ${name}` } });
    return { recoveryCodes: await firstRecoveryCodes(store, accountId) };
  });
}

/** What waits until the person has entered a code of their app. The secret is sealed. */
interface PendingTotp {
  readonly accountId: string;
  readonly keyId: string;
  readonly sealed: string;
}

type TotpContext = Pick<PeopleContext, 'secretKeys' | 'pending'>;

/** Returns what only the page of this set-up has. */
export async function beginTotp(
  { pending, secretKeys }: TotpContext,
  accountId: string,
  { browserId, network }: Pick<Guest, 'browserId' | 'network'>,
): Promise<string> {
  const setup = randomBytes(32).toString('base64url');
  const { keyId, sealed } = sealSecret(secretKeys, totpName(accountId), randomBytes(TOTP_SECRET_BYTES));
  const content: PendingTotp = { accountId, keyId, sealed: sealed.toString('base64') };
  await pending.insert(pendingKey('totp', setup, browserId), content, { network });
  return setup;
}

/** The secret of a set-up. Null when it has ended, or is of another browser or account. */
export async function findTotpSetup(
  { pending, secretKeys }: TotpContext,
  accountId: string,
  { setup, browserId }: { readonly setup: string; readonly browserId: string },
): Promise<(SealedSecret & { readonly secret: Buffer }) | null> {
  const found = await pending.find<PendingTotp>(pendingKey('totp', setup, browserId));
  if (found === null || found.accountId !== accountId) return null;
  const stored = { keyId: found.keyId, sealed: Buffer.from(found.sealed, 'base64') };
  return { ...stored, secret: unsealSecret(secretKeys, totpName(accountId), stored) };
}

interface TotpSetup {
  readonly setup: string;
  readonly code: string;
  readonly browserId: string;
}

/** Sets up the app when its code is right, in place of the one before. `ended`: the set-up; `wrong`: the code. */
export async function confirmTotp(
  context: FactorContext & TotpContext,
  { accountId, userId }: Owner,
  { setup, code, browserId }: TotpSetup,
  visitor: Visitor,
): Promise<Added | 'ended' | 'wrong'> {
  const found = await findTotpSetup(context, accountId, { setup, browserId });
  if (found === null) return 'ended';
  const step = stepOfCode(found.secret, code, await context.factors.now());
  if (step === null) return 'wrong';
  if ((await context.pending.take(pendingKey('totp', setup, browserId))) === null) return 'ended';
  return context.record.act(async ({ factors, record: write }) => {
    await factors.lock(accountId);
    await factors.setTotp(accountId, found, step);
    await write({ kind: 'factor-added', userId, accountId, visitor, details: { factor: 'an authenticator app' } });
    return { recoveryCodes: await firstRecoveryCodes(factors, accountId) };
  });
}

/** Without an id the authenticator app. Keeps authentication.factors.last. */
export async function removeFactor(
  { factors: reads, record }: FactorContext,
  { accountId, userId }: Owner,
  passkey: { readonly id: string; readonly name: string } | null,
  visitor: Visitor,
): Promise<void> {
  const isRequired = await reads.isRequired(userId, 'surely');
  await record.act(async ({ factors, record: write }) => {
    const removal = await factors.remove(accountId, passkey?.id ?? null);
    if (removal === 'unknown') throw new Fault('not_found', { message: 'This is removed already.' });
    if (removal === 'last' && isRequired) {
      const message = 'A second factor is required of you, and this is the only one. Add another one first.';
      throw new Fault('conflict', { message });
    }
    const factor = passkey === null ? 'the authenticator app' : `the passkey ${passkey.name}`;
    const about = { userId, accountId, visitor, ...(passkey === null ? {} : { subjectId: passkey.id }) };
    await write({ kind: 'factor-removed', ...about, details: { factor } });
  });
}

/** New codes, in place of all before. */
export async function renewRecoveryCodes(
  { record }: FactorContext,
  { accountId, userId }: Owner,
  visitor: Visitor,
): Promise<readonly string[]> {
  return record.act(async ({ factors, record: write }) => {
    await factors.lock(accountId);
    if (!(await factors.has(accountId)))
      throw new Fault('conflict', { message: 'Add a passkey or an authenticator app first.' });
    await write({ kind: 'recovery-codes-made', userId, accountId, visitor, details: {} });
    return storeRecoveryCodes(factors, accountId);
  });
}

async function firstRecoveryCodes(factors: Act['factors'], accountId: string): Promise<readonly string[] | null> {
  const { recoveryCodesLeft } = await factors.of(accountId);
  return recoveryCodesLeft > 0 ? null : storeRecoveryCodes(factors, accountId);
}

async function storeRecoveryCodes(factors: SecondFactorStore, accountId: string): Promise<readonly string[]> {
  const codes = newRecoveryCodes();
  const hashes = codes.map((code) => hashOfRecoveryCode(accountId, code));
  await factors.setRecoveryCodes(accountId, hashes);
  return codes;
}
