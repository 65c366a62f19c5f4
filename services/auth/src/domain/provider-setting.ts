import { isHttpUrl } from '@wts/contracts';
import { refuseRange } from '@wts/service-kit/egress';

const LOOPBACK: readonly string[] = ['127.0.0.1', '[::1]', 'localhost'];

export interface ProviderSetting {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly trustsEmails: boolean;
  /** Blocks of addresses that are not public to which endpoints of the provider outside of the issuer's origin may lead. */
  readonly allowedCidrs?: readonly string[];
}

/** Reads the setting OIDC_PROVIDER. Throws an Error with its fault. */
export function parseProvider(text: string): ProviderSetting {
  const given = JSON.parse(text) as Record<string, unknown>;
  const { issuer, clientId, clientSecret, name } = given;
  const { scopes = ['openid', 'profile', 'email'], trustsEmails = false, allowedCidrs = [] } = given;
  const unknown = Object.keys(given).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) throw new Error(`${unknown} is not one of ${KEYS.join(', ')}`);
  if (typeof issuer !== 'string' || !isHttpUrl(issuer)) throw new Error('issuer must be a URL');
  const { protocol, hostname } = new URL(issuer);
  if (protocol !== 'https:' && !LOOPBACK.includes(hostname))
    throw new Error('issuer must start with https://; http:// is for providers on this machine');
  if (typeof clientId !== 'string' || clientId === '') throw new Error('clientId must be a text');
  if (clientSecret !== undefined && typeof clientSecret !== 'string') throw new Error('clientSecret must be a text');
  if (typeof name !== 'string' || name.trim() === '') throw new Error('name must be the text of the button');
  if (!isTexts(scopes) || !scopes.includes('openid')) throw new Error('scopes must be a list of texts with "openid"');
  if (typeof trustsEmails !== 'boolean') throw new Error('trustsEmails must be true or false');
  const secret = clientSecret === undefined ? {} : { clientSecret };
  return { issuer, clientId, ...secret, name, scopes, trustsEmails, ...readCidrs(allowedCidrs) };
}

const KEYS: readonly string[] = [
  'issuer',
  'clientId',
  'clientSecret',
  'name',
  'scopes',
  'trustsEmails',
  'allowedCidrs',
];

function readCidrs(allowedCidrs: unknown): Pick<ProviderSetting, 'allowedCidrs'> {
  if (!isTexts(allowedCidrs)) throw new Error('allowedCidrs must be a list of texts');
  const fault = allowedCidrs.map(refuseRange).find((found) => found !== null);
  if (fault !== undefined) throw new Error(`allowedCidrs ${fault}`);
  return allowedCidrs.length === 0 ? {} : { allowedCidrs };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
