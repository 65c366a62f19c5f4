import type { Principal, Revocation } from '@wts/contracts';

/** Whether a revocation is about the credential of this caller: what every cache and every open socket decides by. */
export function concerns({ credentialId, userId, credentialKind }: Revocation, principal: Principal): boolean {
  const { credential } = principal;
  if (credentialId !== undefined) return credential.id === credentialId;
  if (credentialKind !== undefined && credential.kind !== credentialKind) return false;
  // A revocation without an id is of a newer version: dropping too much is safe.
  return userId === undefined || principal.userId === userId;
}

/** Whether a revocation ends the credential of this caller. One that is limited to a workspace also ends with the membership there. */
export function endsCredential(revocation: Revocation, principal: Principal): boolean {
  const { kind, userId, workspaceId } = revocation;
  if (kind === 'credential') return concerns(revocation, principal);
  const isOfPerson = userId === undefined || userId === principal.userId;
  return isOfPerson && workspaceId !== undefined && workspaceId === principal.workspaceId;
}
