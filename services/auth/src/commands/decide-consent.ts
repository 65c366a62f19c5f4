import type { PeopleContext } from '../context.ts';
import type { Visitor } from '../domain/security-event.ts';
import { redirectTo, type AuthorizationRequest } from '../oauth/authorization-request.ts';
import type { PendingKey } from '../store/pending-requests.ts';
import type { Session } from '../store/sessions.ts';

/** An authorization request that waits for its person. */
export interface PendingAuthorization extends AuthorizationRequest {
  /** As the client called itself at that time. */
  readonly clientName: string | null;
}

/** What the person allows of what the client asked for. */
export interface Allowed {
  readonly isReadOnly: boolean;
  readonly workspaceId: string | null;
  readonly endsAt: Date;
}

interface Decision {
  readonly session: Session;
  readonly key: PendingKey;
  /** Null when the person denies it. */
  readonly allowed: Allowed | null;
  readonly visitor: Visitor;
}

/**
 * The address of the client, with a code or the refusal of the person. The decision ends the request, so a form that is sent twice gives
 * one code. Null when the request or the session has ended.
 * Keeps authentication.consent.choices.
 */
export async function decideConsent(
  { oauth, pending, issuer: iss }: Pick<PeopleContext, 'oauth' | 'pending' | 'issuer'>,
  { session, key, allowed, visitor }: Decision,
): Promise<string | null> {
  const { id: sessionId, userId, createdAt: signedInAt } = session;
  const taken = await pending.take<PendingAuthorization>(key);
  if (taken === null) return null;
  const { redirectUri, state, scopes: asked, ...granted } = taken;
  if (allowed === null) {
    const description = 'The person denied the request.';
    return redirectTo(redirectUri, { error: 'access_denied', error_description: description, state, iss });
  }
  const { isReadOnly, workspaceId, endsAt } = allowed;
  const limits = { scopes: isReadOnly ? (['read'] as const) : asked, workspaceId, endsAt };
  const grant = { ...granted, ...limits, redirectUri, userId, sessionId, signedInAt };
  const code = await oauth.grants.createWithCode(grant, visitor);
  return code === null ? null : redirectTo(redirectUri, { code, state, iss });
}
