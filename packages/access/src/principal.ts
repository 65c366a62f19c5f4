import type { Principal, Scope } from '@wts/contracts';
import { Fault, SCOPES } from '@wts/contracts';

/**
 * Whether one of the principal's scopes is, or includes, `scope`: the list of scopes is in ascending order.
 * Keeps authentication.scopes.write-includes-read, authentication.scopes.admin-includes-both.
 */
export function grants(principal: Principal, scope: Scope): boolean {
  const needed = SCOPES.indexOf(scope);
  return principal.scopes.some((held) => SCOPES.indexOf(held) >= needed);
}

/** Throws `insufficient_scope`. Called before the record is read, so that the reply does not reveal whether it exists. */
export function requireScope(principal: Principal, scope: Scope): void {
  if (grants(principal, scope)) return;
  throw new Fault('insufficient_scope', {
    message: `This operation needs the scope ${scope}.`,
    headers: { 'WWW-Authenticate': `Bearer realm="api", error="insufficient_scope", scope="${scope}"` },
  });
}

/** Throws `forbidden` for a credential that is limited to one workspace; for operations that reach beyond one. */
export function requireUnrestricted(principal: Principal): void {
  if (principal.workspaceId === undefined) return;
  throw new Fault('forbidden', { message: 'This credential is restricted to one workspace; use one that is not.' });
}

/** The principal of a service that acts for itself: schedulers, credential look-ups, readiness. */
export function servicePrincipal(name: string): Principal {
  return { userId: SERVICE_USER_ID, scopes: SCOPES, credential: { kind: 'service', id: name } };
}

/** No person has this id, so a row of a service is never shown as a person's. */
const SERVICE_USER_ID = '00000000-0000-0000-0000-000000000000';
