import { servicePrincipal } from '@wts/access';
import type { BodyOf, workspaceApi } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import { profileOf, readEmail } from '../domain/profile.ts';
import type { ServiceMetrics } from '../metrics.ts';
import type { IdentityStore, StoredIdentity } from '../store/identities.ts';
import type { CommitUnitSender, Trace } from './commit-unit.ts';

export type IdentityClaims = BodyOf<typeof workspaceApi.internalResolvePerson>;

/**
 * The person behind an identity, made on first sight. The identity is claimed for a new id first, and whoever claims it,
 * or finds it claimed, commits the person of that id under one transaction id: so any number of first requests at once,
 * or a crash between the two steps, end with one and the same person. An address never leads to a person.
 * Keeps authentication.jwt.person.
 */
export async function resolvePerson(
  context: {
    readonly identities: IdentityStore;
    readonly commitUnit: CommitUnitSender;
    readonly metrics: Pick<ServiceMetrics, 'personCreated'>;
  },
  claims: IdentityClaims,
  trace: Trace = {},
): Promise<string> {
  const { identities, commitUnit, metrics } = context;
  const identity = { issuer: claims.issuer, subject: claims.subject };
  const known = await identities.find(identity);
  if (known?.hasPerson) {
    await keepAddress(identities, known, claims);
    return known.userId;
  }
  const profile = profileOf(claims);
  const address = { email: profile.email, emailVerified: claims.emailVerified ?? false };
  const userId = known?.userId ?? (await identities.claim(identity, randomUUID(), address));
  await commitUnit(
    {
      principal: { ...servicePrincipal('workspace'), userId },
      authority: 'service',
      txId: `create-person:${userId}`,
      mutations: [{ modelName: 'User', modelId: userId, action: 'INSERT', payload: { ...profile, username: null } }],
    },
    trace,
  );
  if (await identities.markPersonCreated(identity)) metrics.personCreated();
  return userId;
}

/** Invitations ask for the address the provider gives today; the profile stays as the person may have edited it. */
async function keepAddress(identities: IdentityStore, known: StoredIdentity, claims: IdentityClaims): Promise<void> {
  const email = readEmail(claims.email);
  if (email === null) return;
  // A token without the claim leaves an address as it was; a new address is not verified.
  const emailVerified = claims.emailVerified ?? (email === known.email && known.emailVerified);
  if (email === known.email && emailVerified === known.emailVerified) return;
  await identities.changeAddress({ issuer: claims.issuer, subject: claims.subject }, { email, emailVerified });
}
