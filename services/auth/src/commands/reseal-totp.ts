import { sealSecret, unsealSecret, type SecretKeys } from '@wts/service-kit/sealing';
import type { SecondFactorStore } from '../store/second-factors.ts';
import { totpName } from './check-second-factor.ts';

/** Seals the secrets of authenticator apps with the first key of AUTH_SECRET_KEY, so that an operator may remove an older one. */
export async function resealTotp(
  factors: Pick<SecondFactorStore, 'totpSealedOtherwise' | 'resealTotp'>,
  secretKeys: SecretKeys,
): Promise<void> {
  for (const { accountId, ...stored } of await factors.totpSealedOtherwise(secretKeys.current.id)) {
    // An operator removed its key too early: its codes fail, and those of others are sealed again all the same.
    if (!secretKeys.byId.has(stored.keyId)) continue;
    const name = totpName(accountId);
    await factors.resealTotp(accountId, stored, sealSecret(secretKeys, name, unsealSecret(secretKeys, name, stored)));
  }
}
