import type { SealedSecret } from '@wts/service-kit/sealing';
import { randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;
const SECRET_PREFIX = 'whsec_';

/** One signing secret of an endpoint as the table holds it, sealed with a key of WEBHOOK_SECRET_KEY. Keeps webhooks.secret.at-rest. */
export interface StoredSecret extends SealedSecret {
  readonly createdAt: Date;
  /** Null for the current secret; the ones before it sign until then. */
  readonly expiresAt: Date | null;
}

export function makeSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** A secret as its endpoint's owner gets it, once. */
export function secretText(secret: Buffer): string {
  return SECRET_PREFIX + secret.toString('base64');
}

/** Those that sign at a time, the current one first, then the ones before it, newest first. Keeps webhooks.signature.rotation. */
export function secretsInForce<S extends Pick<StoredSecret, 'createdAt' | 'expiresAt'>>(
  secrets: readonly S[],
  nowMs: number,
): S[] {
  const isInForce = ({ expiresAt }: S): boolean => expiresAt === null || expiresAt.getTime() > nowMs;
  const rank = ({ expiresAt }: S): number => (expiresAt === null ? 0 : 1);
  return secrets
    .filter(isInForce)
    .toSorted((one, other) => rank(one) - rank(other) || other.createdAt.getTime() - one.createdAt.getTime());
}
