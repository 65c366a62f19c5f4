import { Fault, SCOPES, type Principal, type Scope } from '@wts/contracts';
import { API_RESOURCE, scopeFault, type ProtectedResource } from './challenge.ts';

/**
 * Whether one of the held scopes is, or includes, `scope`: the list of scopes is in ascending order.
 * Keeps authentication.scopes.write-includes-read, authentication.scopes.admin-includes-both.
 */
export function includesScope(held: readonly Scope[], scope: Scope): boolean {
  const needed = SCOPES.indexOf(scope);
  return held.some((one) => SCOPES.indexOf(one) >= needed);
}

/** Throws `insufficient_scope`. Called before the record is read, so that the reply does not reveal whether it exists. */
export function requireScope(principal: Principal, scope: Scope, resource: ProtectedResource = API_RESOURCE): void {
  if (!includesScope(principal.scopes, scope)) throw scopeFault(scope, resource);
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
