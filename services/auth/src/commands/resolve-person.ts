import { servicePrincipal } from '@wts/access';
import { Fault } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { profileOf, readEmail, type IdentityClaims } from '../domain/profile.ts';
import type { ServiceMetrics } from '../metrics.ts';
import type { StoredIdentity } from '../store/identities.ts';

/**
 * Returns the person of an identity; the first request of an identity creates the person. It first claims the identity
 * for a new id. Then every request that finds the claim commits the person with that id under one transaction id, so any
 * number of parallel first requests, or a crash between the two steps, end with the same person. A person is never found
 * by an address. An address that is not verified is not shown where another person has it, because members could not tell the two apart.
 * The person of a disabled identity is refused: that ends the sign-in by password and provider, and the tokens of a provider.
 * Keeps authentication.jwt.person and authentication.people.address.
 */
export async function resolvePerson(
  context: Pick<Context, 'identities' | 'commitUnit'> & { readonly metrics: Pick<ServiceMetrics, 'personCreated'> },
  claims: IdentityClaims,
): Promise<string> {
  const { identities, commitUnit, metrics } = context;
  const identity = { issuer: claims.issuer, subject: claims.subject };
  const stored = await identities.find(identity);
  if (stored?.isEnabled === false)
    throw new Fault('forbidden', { message: 'This account is disabled. Ask the operator of this service.' });
  if (stored?.hasPerson) {
    await updateAddress(context, stored, claims);
    return stored.userId;
  }
  const profile = profileOf(claims);
  const address = { email: profile.email, emailVerified: claims.emailVerified ?? false };
  const userId = stored?.userId ?? (await identities.claim(identity, randomUUID(), address));
  const { email } = profile;
  const isShown = email !== null && (address.emailVerified || !(await identities.isOfAnother(email, userId)));
  const payload = { ...profile, email: isShown ? email : null, username: null };
  await commitUnit({
    principal: { ...servicePrincipal('auth'), userId },
    authority: 'service',
    txId: `create-person:${userId}`,
    mutations: [{ modelName: 'User', modelId: userId, action: 'INSERT', payload }],
  });
  if (await identities.markPersonCreated(identity)) metrics.personCreated();
  return userId;
}

/**
 * Invitations compare the latest address. The name stays, because the person may have edited it. An address that is verified is shown to
 * others from then on. The identity is written last, so that a failure in between is repaired at the next sign-in.
 */
async function updateAddress(
  context: Pick<Context, 'identities' | 'commitUnit'>,
  stored: StoredIdentity,
  claims: IdentityClaims,
): Promise<void> {
  const email = readEmail(claims.email);
  if (email === null) return;
  // A token without the claim changes nothing for a stored address; a new address is not verified.
  const emailVerified = claims.emailVerified ?? (email === stored.email && stored.emailVerified);
  if (email === stored.email && emailVerified === stored.emailVerified) return;
  if (emailVerified) await showAddress(context, stored.userId, email);
  await context.identities.changeAddress({ issuer: claims.issuer, subject: claims.subject }, { email, emailVerified });
}

/** Shows a person with this address to all who share a workspace with them; null for none. */
export async function showAddress(
  { commitUnit }: Pick<Context, 'commitUnit'>,
  userId: string,
  email: string | null,
): Promise<void> {
  const mutation = { modelName: 'User', modelId: userId, action: 'UPDATE', payload: { email } } as const;
  const principal = { ...servicePrincipal('auth'), userId };
  await commitUnit({ principal, authority: 'service', txId: randomUUID(), mutations: [mutation] });
}
