import { unsealSecret, type SecretKeys } from '@wts/service-kit/sealing';
import { secretsInForce } from '../domain/secrets.ts';
import type { EndpointSettings } from '../store/lanes.ts';

/** The secrets of one endpoint that are in force, unsealed once for each reading of its settings. */
export class SigningSecrets {
  readonly #keys: SecretKeys;
  #last: { readonly from: EndpointSettings; readonly secrets: readonly Buffer[] } | null = null;

  constructor(keys: SecretKeys) {
    this.#keys = keys;
  }

  /** Throws when one cannot be unsealed, or when there is none. */
  of(settings: EndpointSettings): readonly Buffer[] {
    if (this.#last?.from === settings) return this.#last.secrets;
    const inForce = secretsInForce(settings.secrets, settings.clockMs + performance.now());
    const secrets = inForce.map((secret) => unsealSecret(this.#keys, settings.endpointId, secret));
    if (secrets.length === 0) throw new Error('the endpoint has no secret');
    this.#last = { from: settings, secrets };
    return secrets;
  }
}
