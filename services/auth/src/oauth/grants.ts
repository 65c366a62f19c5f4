import { randomUUID } from 'node:crypto';
import type { RevocationSender } from '@wts/service-kit/nats';
import type { Logger } from '@wts/service-kit/observe';
import { publishGrantsRevoked, publishRevoked } from '../credentials/publish-revoked.ts';
import { newOpaqueToken } from '../domain/opaque-token.ts';
import type { RefreshHashes } from '../domain/refresh-token.ts';
import type { GrantStore, ListedGrant, NewGrant, RevokedGrant } from '../store/grants.ts';

/** What people allow clients, from their consent to its end. */
export interface Grants {
  /**
   * Returns the code that the client gets by the redirect. A person with more grants than AUTH_LIMITS.grantsPerPersonMax loses those that
   * were used longest ago.
   */
  createWithCode(grant: Omit<NewGrant, 'id'>): Promise<string | null>;
  listOf(userId: string): Promise<ListedGrant[]>;
  /** False when the person has no such grant, or it is revoked already. Its access tokens stop working within a second. */
  revoke(userId: string, id: string): Promise<boolean>;
  revokeAllOf(userId: string): Promise<void>;
  /** For who revoked all grants of a person in a transaction of their own. */
  announceAllRevoked(userId: string): Promise<void>;
  /** Revokes the grants of all people who sign in with a password, some thousands in one call. False when there are none. */
  revokeOfAccounts(): Promise<boolean>;
  /** Revokes the grant of a code that is presented again: one of the two who have it is a thief. */
  revokeOfUsedCode(hash: Buffer): Promise<boolean>;
  /** The same for a refresh token that was replaced. */
  revokeOfUsedToken(token: RefreshHashes): Promise<boolean>;
}

export function openGrants(store: GrantStore, revoke: RevocationSender, log: Logger): Grants {
  const announce = (revoked: readonly RevokedGrant[]): Promise<boolean> => publishRevoked(revoke, revoked);
  return {
    createWithCode: async (grant) => {
      const { token, hash } = newOpaqueToken('code');
      if (!(await store.insert({ id: randomUUID(), ...grant }, hash))) return null;
      try {
        await announce(await store.revokeExcess(grant.userId));
      } catch (err) {
        // The code is stored, so the client gets it.
        log.warn({ err }, 'could not revoke the excess grants of a person; their next consent tries again');
      }
      return token;
    },
    listOf: (userId) => store.listOf(userId),
    revoke: async (userId, id) => announce(await store.revoke(userId, id)),
    revokeAllOf: async (userId) => {
      if ((await store.revokeAllOf(userId)).length > 0) await publishGrantsRevoked(revoke, userId);
    },
    announceAllRevoked: (userId) => publishGrantsRevoked(revoke, userId),
    revokeOfAccounts: async () => announce(await store.revokeOfAccounts()),
    revokeOfUsedCode: async (hash) => announce(await store.revokeOfUsedCode(hash)),
    revokeOfUsedToken: async (used) => announce(await store.revokeOfUsedToken(used)),
  };
}
