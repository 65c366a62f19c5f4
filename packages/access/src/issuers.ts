import type { FetchJwks } from './jwks.ts';
import { weaknessOf } from './weak-secret.ts';

/** An identity provider whose tokens are accepted. Only the configuration has them; a token cannot add one. */
export interface Issuer {
  /** Compared with the `iss` claim unchanged: no trailing slash is added or removed. */
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly algorithms: readonly Algorithm[];
  /** Accepted values of the `typ` header, lower case; `''` stands for an absent one. */
  readonly types: readonly string[];
  /** Tokens of each secret are accepted, while one replaces the other. Keeps secrets.issuers. */
  readonly key: { readonly secrets: readonly string[] } | { readonly jwksUri: string; readonly fetch?: FetchJwks };
  /** The provider verifies every e-mail address: one in a token without the claim `email_verified` counts as verified. */
  readonly trustsEmails: boolean;
}

const SHARED = ['HS256', 'HS384', 'HS512'] as const;
const PUBLIC = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'] as const;
export type Algorithm = (typeof SHARED)[number] | (typeof PUBLIC)[number];

const SECRET_BYTES_MIN = 32;
/** More would be secrets that the operator forgot to remove. */
const SECRETS_MAX = 2;
const FIELDS = ['issuer', 'audiences', 'algorithms', 'types', 'secret', 'jwksUri', 'trustsEmails'];
const TYPES_DEFAULT = ['', 'jwt'];

/**
 * Reads the configured list `[{issuer, audiences, algorithms, secret | jwksUri, types?, trustsEmails?}]`. Throws an Error with
 * a sentence for the operator. A secret and a public key never belong to the same issuer, because then a token could be
 * signed with the public key as if it were the secret.
 */
export function parseIssuers(json: string): Issuer[] {
  const list = jsonOf(json);
  if (!Array.isArray(list)) throw new Error('The list of issuers must be a JSON array.');
  const issuers = list.map((entry, index) => readIssuer(entry, `Issuer ${index + 1}`));
  const names = new Set(issuers.map(({ issuer }) => issuer));
  if (names.size !== issuers.length) throw new Error('The list of issuers names one issuer twice.');
  return issuers;
}

function jsonOf(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    // The parser's own message quotes the text, which contains secrets.
    throw new Error('The list of issuers is not valid JSON.');
  }
}

function readIssuer(entry: unknown, where: string): Issuer {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    throw new Error(`${where} must be an object.`);
  const row = entry as Record<string, unknown>;
  const unknownField = Object.keys(row).find((field) => !FIELDS.includes(field));
  if (unknownField !== undefined) throw new Error(`${where} has an unknown field ${JSON.stringify(unknownField)}.`);
  if (typeof row.issuer !== 'string' || row.issuer === '') throw new Error(`${where} needs "issuer", a string.`);
  const named = `${where} (${row.issuer})`;
  const key = readKey(row, named);
  const allowed: readonly string[] = 'secrets' in key ? SHARED : PUBLIC;
  const algorithms = texts(row.algorithms, `${named} needs "algorithms", a list of ${allowed.join(', ')}.`);
  const wrong = algorithms.find((algorithm) => !allowed.includes(algorithm));
  if (wrong !== undefined) {
    throw new Error(
      `${named} cannot use the algorithm ${wrong}; with this kind of key it may be ${allowed.join(', ')}.`,
    );
  }
  const types =
    row.types === undefined ? TYPES_DEFAULT : texts(row.types, `${named}: "types" must be a list of strings.`);
  return {
    issuer: row.issuer,
    audiences: texts(row.audiences, `${named} needs "audiences", a list of strings that is not empty.`),
    algorithms: algorithms as Algorithm[],
    types: types.map((type) => type.toLowerCase()),
    key,
    trustsEmails: readFlag(row.trustsEmails, `${named}: "trustsEmails" must be true or false.`),
  };
}

function readFlag(value: unknown, sentence: string): boolean {
  if (value !== undefined && typeof value !== 'boolean') throw new Error(sentence);
  return value === true;
}

function texts(value: unknown, sentence: string): string[] {
  const isList = Array.isArray(value) && value.length > 0;
  if (!isList || !value.every((item) => typeof item === 'string' && item !== '')) throw new Error(sentence);
  return value as string[];
}

function readKey(row: Record<string, unknown>, named: string): Issuer['key'] {
  if ((row.secret === undefined) === (row.jwksUri === undefined))
    throw new Error(`${named} needs either "secret" or "jwksUri".`);
  if (row.secret !== undefined) {
    const secrets: unknown[] = Array.isArray(row.secret) ? row.secret : [row.secret];
    if (secrets.length === 0 || secrets.length > SECRETS_MAX)
      throw new Error(`${named}: "secret" must be one, or a list of two while one replaces the other.`);
    return { secrets: secrets.map((secret) => readSecret(secret, named)) };
  }
  const uri = typeof row.jwksUri === 'string' ? URL.parse(row.jwksUri) : null;
  if (uri === null || !isSafe(uri))
    throw new Error(`${named}: "jwksUri" must be an https address (http only on this machine), without credentials.`);
  return { jwksUri: uri.href };
}

function readSecret(secret: unknown, named: string): string {
  if (typeof secret !== 'string' || Buffer.byteLength(secret) < SECRET_BYTES_MIN)
    throw new Error(`${named}: "secret" must be a string of at least ${SECRET_BYTES_MIN} bytes.`);
  const weakness = weaknessOf(secret);
  if (weakness !== null) throw new Error(`${named}: "secret" ${weakness}.`);
  return secret;
}

/** Plain http only on this machine, because keys fetched without TLS could be replaced on the network. */
function isSafe(uri: URL): boolean {
  if (uri.username !== '' || uri.password !== '') return false;
  if (uri.protocol === 'https:') return true;
  return uri.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(uri.hostname);
}
