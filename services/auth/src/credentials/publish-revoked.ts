import type { RevocationSender } from '@wts/service-kit/nats';

/** A key or a grant that a statement just revoked. */
interface RevokedCredential {
  readonly id: string;
  readonly userId: string;
}

/**
 * Publishes which credentials were revoked. Everything in this service that revokes one calls this after the statement has
 * committed and before the caller gets the answer. False when there was none.
 */
export async function publishRevoked(
  revoke: RevocationSender,
  revoked: readonly RevokedCredential[],
): Promise<boolean> {
  await Promise.all(revoked.map(({ id, userId }) => revoke({ kind: 'credential', credentialId: id, userId })));
  return revoked.length > 0;
}

/** Publishes that no credential of a person may be used from a cache any more. */
export async function publishAllRevoked(revoke: RevocationSender, userId: string): Promise<void> {
  await revoke({ kind: 'credential', userId });
}

/**
 * Publishes that all grants of a person were revoked: by one message, because each one makes every replica search its caches and
 * sockets.
 */
export async function publishGrantsRevoked(revoke: RevocationSender, userId: string): Promise<void> {
  await revoke({ kind: 'credential', userId, credentialKind: 'oauth' });
}
