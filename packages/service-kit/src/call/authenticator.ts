import { accessTokenIssuer, createAuthenticator, servicePrincipal, type Authenticator } from '@wts/access';
import { credentialApi, Fault, oauthApi } from '@wts/contracts';
import type { credentialSettings } from '../config/credential-settings.ts';
import type { ConfigOf } from '../config/settings.ts';
import type { ServiceClient } from './service-client.ts';
import { SenderSemaphores } from './semaphore.ts';
import { SERVICE_LIMITS } from '../limits.ts';

/** Requests wait for the first key set, and for one with a new key. */
const KEYS_TIMEOUT_MS = 5_000;

interface AuthenticatorKit {
  readonly name: string;
  /** Closes it with the service. */
  readonly stack: AsyncDisposableStack;
}

/**
 * Resolves credentials to principals, with look-ups at the auth service. The look-ups of one sender (a network, as the
 * gateway names it) are limited, because a sender can make up any number of credentials. Keeps limits.look-ups.network.
 */
export function openAuthenticator(
  { name, stack }: AuthenticatorKit,
  auth: ServiceClient,
  { issuers, apiKeyPrefix, authUrl, baseUrl, shard }: ConfigOf<typeof credentialSettings> & { readonly shard?: number },
): Authenticator {
  const principal = servicePrincipal(name);
  const lookUps = new SenderSemaphores({
    atOnce: SERVICE_LIMITS.lookUpsOfSenderMax,
    waitingMax: SERVICE_LIMITS.lookUpsWaitingOfSenderMax,
    waitMs: SERVICE_LIMITS.lookUpWaitMs,
    refusal: 'Too many credentials from your network are being checked; try again shortly',
  });
  const limited = <T>(sender: string, lookUp: () => Promise<T>): Promise<T> =>
    sender === '' ? lookUp() : lookUps.run(sender, lookUp);
  const authenticator = createAuthenticator({
    issuers,
    accessTokens: {
      issuer: accessTokenIssuer({
        authUrl,
        baseUrl,
        shard,
        fetchKeys: async () => {
          const keys = await auth.call(oauthApi.jwks, { principal, timeoutMs: KEYS_TIMEOUT_MS });
          return Buffer.from(JSON.stringify(keys));
        },
      }),
      resolveGrant: async (grantId, sender) => {
        const request = { principal, body: { grantId }, idempotent: true };
        const reply = await limited(sender, () => auth.call(oauthApi.internalResolveGrant, request));
        return reply.grant;
      },
    },
    apiKeyPrefix,
    resolveApiKey: async (tokenHash, sender) => {
      const request = { principal, body: { tokenHash }, idempotent: true };
      const reply = await limited(sender, () => auth.call(credentialApi.internalResolveApiKey, request));
      return reply.principal;
    },
    resolvePerson: async (identity, sender) => {
      const request = { principal, body: identity, idempotent: true };
      try {
        return (await limited(sender, () => auth.call(credentialApi.internalResolvePerson, request))).userId;
      } catch (failure) {
        if (failure instanceof Fault && failure.code === 'forbidden') return null;
        throw failure;
      }
    },
  });
  stack.defer(() => authenticator.close());
  return authenticator;
}
