import { SCOPES, type Principal } from '@wts/contracts';

/** The caller of a session, who holds all scopes of the person. */
export function sessionPrincipal({ id, userId }: { readonly id: string; readonly userId: string }): Principal {
  return { userId, scopes: SCOPES, credential: { kind: 'jwt', id } };
}
