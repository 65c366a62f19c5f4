import { identityOf, subjectOf } from '@wts/access';
import { Fault } from '@wts/contracts';
import { createHmac } from 'node:crypto';
import * as client from 'openid-client';
import { mergedClaims } from '../domain/merged-claims.ts';
import type { IdentityClaims } from '../domain/profile.ts';
import type { ProviderSetting } from '../domain/provider-setting.ts';
import { openProviderFetch } from './provider-fetch.ts';

const TIMEOUT_SECONDS = 5;
/** Metadata is read again after so long, because addresses may change. */
const METADATA_MS = 10 * 60_000;
interface SignInSecrets {
  readonly browserId: string;
  readonly state: string;
}

/**
 * The OpenID provider at which people sign in: authorization code with PKCE, state and nonce. A person is found by issuer and subject only,
 * exactly as the tokens of the same provider at the API give them. Verifier and nonce are derived from the secret of the browser, so
 * they are stored nowhere, and a restart loses nothing. Keeps authentication.provider.sign-in and authentication.provider.faults.
 */
export class IdentityProvider {
  readonly name: string;
  readonly #setting: ProviderSetting;
  readonly #redirectUri: string;
  readonly #fetch: ReturnType<typeof openProviderFetch>;
  #found: { readonly metadata: Promise<client.Configuration>; readonly at: number } | null = null;

  constructor(setting: ProviderSetting, redirectUri: string) {
    this.name = setting.name;
    this.#setting = setting;
    this.#redirectUri = redirectUri;
    this.#fetch = openProviderFetch(setting);
  }

  /** The address at the provider to which the browser goes. */
  async begin(secrets: SignInSecrets): Promise<string> {
    const metadata = await this.#metadata();
    const challenge = await client.calculatePKCECodeChallenge(derive(secrets, 'verifier'));
    return client.buildAuthorizationUrl(metadata, {
      redirect_uri: this.#redirectUri,
      scope: this.#setting.scopes.join(' '),
      code_challenge: challenge,
      code_challenge_method: 'S256',
      nonce: derive(secrets, 'nonce'),
      state: secrets.state,
    }).href;
  }

  /** The identity of the person who comes back with this query. */
  async finish(query: string, secrets: SignInSecrets): Promise<IdentityClaims> {
    const metadata = await this.#metadata();
    try {
      const tokens = await client.authorizationCodeGrant(metadata, new URL(`${this.#redirectUri}${query}`), {
        pkceCodeVerifier: derive(secrets, 'verifier'),
        expectedNonce: derive(secrets, 'nonce'),
        expectedState: secrets.state,
        idTokenExpected: true,
      });
      const claims: client.IDToken | undefined = tokens.claims();
      if (claims === undefined) throw new Error('the provider gave no ID token');
      const subject = subjectOf({ ...claims }, Math.floor(Date.now() / 1000));
      const { userinfo_endpoint: userinfo } = metadata.serverMetadata();
      const isComplete = claims['name'] !== undefined && claims['email'] !== undefined;
      const more =
        isComplete || userinfo === undefined
          ? {}
          : await client.fetchUserInfo(metadata, tokens.access_token, claims.sub);
      const verified = { issuer: claims.iss, subject, claims: mergedClaims(claims, more) };
      return identityOf(verified, this.#setting.trustsEmails);
    } catch (cause) {
      if (cause instanceof client.AuthorizationResponseError) throw this.#refused(cause);
      throw this.#fault(cause);
    }
  }

  /** A failed discovery is tried again at the next sign-in. */
  #metadata(): Promise<client.Configuration> {
    if (this.#found !== null && performance.now() - this.#found.at < METADATA_MS) return this.#found.metadata;
    const metadata = this.#discover();
    const found = { metadata, at: performance.now() };
    this.#found = found;
    metadata.catch(() => {
      if (this.#found === found) this.#found = null;
    });
    return metadata;
  }

  async #discover(): Promise<client.Configuration> {
    const { issuer, clientId, clientSecret } = this.#setting;
    const isHttp = new URL(issuer).protocol === 'http:';
    try {
      return await client.discovery(
        new URL(issuer),
        clientId,
        {},
        clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret),
        {
          timeout: TIMEOUT_SECONDS,
          [client.customFetch]: (url, options) => this.#fetch(url, options as RequestInit),
          // The signature of the ID token is verified too, besides the connection over which it came.
          // oxlint-disable-next-line typescript/no-deprecated -- marked so by its authors as a warning: for a provider on this machine
          execute: [client.enableNonRepudiationChecks, ...(isHttp ? [client.allowInsecureRequests] : [])],
        },
      );
    } catch (cause) {
      throw this.#fault(cause);
    }
  }

  #refused(cause: Error): Fault {
    return new Fault('forbidden', {
      message: `${this.name} did not sign you in. Start again, or choose another way.`,
      cause,
    });
  }

  #fault(cause: unknown): Fault {
    const message = `The sign-in at ${this.name} does not work at this moment. Try again, or ask the operator of this service.`;
    return new Fault('unavailable', { message, cause });
  }
}

function derive({ browserId, state }: SignInSecrets, use: 'verifier' | 'nonce'): string {
  return createHmac('sha256', browserId).update(`${use} ${state}`).digest('base64url');
}
