import { Fault } from '@wts/contracts';
import { randomBytes } from 'node:crypto';
import type { PeopleContext } from '../context.ts';
import type { IdentityClaims } from '../domain/profile.ts';
import type { Visitor } from '../domain/security-event.ts';
import { pendingKey } from '../store/pending-requests.ts';
import type { Session } from '../store/sessions.ts';
import type { NextStep } from './begin-second-step.ts';
import { beginSession } from './begin-session.ts';
import type { Guest } from './sign-in-by-password.ts';

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
  { provider, pending }: Pick<PeopleContext, 'provider' | 'pending'>,
  { browserId, network }: Pick<Guest, 'browserId' | 'network'>,
  next: NextStep,
): Promise<string> {
  if (provider === null) throw noProvider();
  const state = randomBytes(32).toString('base64url');
  const to = await provider.begin({ browserId, state });
  await pending.insert(pendingKey('provider', state, browserId), next, { network });
  return to;
}

/** Signs in the person who comes back from the provider. Returns the secret of the session, and what the person does next. */
export async function finishProviderSignIn(
  context: Pick<PeopleContext, 'provider' | 'pending' | 'record' | 'metrics' | 'resolve'>,
  { state, browserId, query, session, visitor }: Callback,
): Promise<{ readonly secret: string; readonly next: NextStep }> {
  const { provider, pending, metrics } = context;
  if (provider === null) throw noProvider();
  const next = query === null ? null : await pending.take<NextStep>(pendingKey('provider', state, browserId));
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
  const userId = await context.resolve(claims);
  metrics.signIn('provider', 'right');
  const way = `at ${provider.name}`;
  const secret = await beginSession(context, { userId, account: null, replaces: session, way, visitor });
  if (secret === null) throw new Error('a session without an account always begins');
  return { secret, next };
}

function noProvider(): Fault {
  return new Fault('not_found', { message: 'This service has no identity provider. Sign in with your password.' });
}
