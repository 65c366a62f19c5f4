import type { Principal } from '@wts/contracts';
import { Fault } from '@wts/contracts';

/** Throws `forbidden` for a credential that is limited to one workspace; for operations that reach beyond one. */
export function requireUnrestricted(principal: Principal): void {
  if (principal.workspaceId === undefined) return;
  throw new Fault('forbidden', { message: 'This credential is restricted to one workspace; use one that is not.' });
}
