import { Fault } from '@wts/contracts';
import { randomBytes } from 'node:crypto';
import type { IdentityProvider } from '../accounts/identity-provider.ts';
import type { IdentityClaims } from '../domain/profile.ts';
import type { Visitor } from '../domain/security-event.ts';
import { sha256 } from '../domain/sha256.ts';
import type { PendingKey, PendingRequestStore } from '../store/pending-requests.ts';
import type { ServiceMetrics } from '../metrics.ts';
import type { SecurityRecord } from '../record/security-record.ts';
import type { Session } from '../store/sessions.ts';
import type { NextStep } from './begin-second-step.ts';
import { beginSession } from './begin-session.ts';
import type { Guest } from './sign-in-by-password.ts';

interface ProviderContext {
  readonly provider: IdentityProvider | null;
  readonly pending: PendingRequestStore;
  readonly record: SecurityRecord;
  readonly metrics: Pick<ServiceMetrics, 'signIn'>;
  readonly resolve: (claims: IdentityClaims) => Promise<string>;
}

interface Callback {
  readonly state: string;
  readonly browserId: string;
  /** What the provider added to the address, with its `?`; null when a parameter is given more than once. */
  readonly query: string | null;
  /** The session that the browser has. */
  readonly session: Session | null;
  readonly visitor: Visitor;
}

/** Begins a sign-in, which only the same browser can end. Returns the address at the provider. */
export async function beginProviderSignIn(
  { provider, pending }: Pick<ProviderContext, 'provider' | 'pending'>,
  { browserId, network }: Pick<Guest, 'browserId' | 'network'>,
  next: NextStep,
): Promise<string> {
  if (provider === null) throw noProvider();
  const state = randomBytes(32).toString('base64url');
  const to = await provider.begin({ browserId, state });
  await pending.insert(keyOf(state, browserId), next, { network });
  return to;
}

/** Signs in the person who comes back from the provider. Returns the secret of the session, and what the person does next. */
export async function finishProviderSignIn(
  { provider, pending, record, metrics, resolve }: ProviderContext,
  { state, browserId, query, session, visitor }: Callback,
): Promise<{ readonly secret: string; readonly next: NextStep }> {
  if (provider === null) throw noProvider();
  const next = query === null ? null : await pending.take<NextStep>(keyOf(state, browserId));
  if (query === null || next === null) {
    const message = 'This sign-in has ended, or began in another browser. Start again.';
    throw new Fault('malformed_request', { message });
  }
  let claims: IdentityClaims;
  try {
    claims = await provider.finish(query, { browserId, state });
  } catch (failure) {
    metrics.signIn('provider', 'wrong');
    throw failure;
  }
  const userId = await resolve(claims);
  metrics.signIn('provider', 'right');
  const way = `at ${provider.name}`;
  const secret = await beginSession({ record }, { userId, account: null, replaces: session, way, visitor });
  if (secret === null) throw new Error('a session without an account always begins');
  return { secret, next };
}

function keyOf(state: string, browserId: string): PendingKey {
  return { idHash: sha256(state), kind: 'provider', browserHash: sha256(browserId) };
}

function noProvider(): Fault {
  return new Fault('not_found', { message: 'This service has no identity provider. Sign in with your password.' });
}
