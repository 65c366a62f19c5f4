import type { Authenticator } from '@wts/access';
import { createAuthenticator, servicePrincipal } from '@wts/access';
import { workspaceApi } from '@wts/contracts';
import type { credentialSettings } from '../config/credential-settings.ts';
import type { ConfigOf } from '../config/settings.ts';
import type { Caller } from './caller.ts';

interface AuthenticatorKit {
  readonly name: string;
  /** Closes it with the service. */
  readonly stack: AsyncDisposableStack;
}

/** Credential -> principal, with the two look-ups that only the workspace service can answer. */
export function openAuthenticator(
  { name, stack }: AuthenticatorKit,
  workspace: Caller,
  { issuers, apiKeyPrefix }: ConfigOf<typeof credentialSettings>,
): Authenticator {
  const principal = servicePrincipal(name);
  const authenticator = createAuthenticator({
    issuers,
    apiKeyPrefix,
    resolveApiKey: async (tokenHash) => {
      const request = { principal, body: { tokenHash }, idempotent: true };
      return (await workspace.call(workspaceApi.internalResolveApiKey, request)).principal;
    },
    resolvePerson: async (identity) => {
      const request = { principal, body: identity, idempotent: true };
      return (await workspace.call(workspaceApi.internalResolvePerson, request)).userId;
    },
  });
  stack.defer(() => authenticator.close());
  return authenticator;
}
