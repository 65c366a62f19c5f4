/** What no image may have, by its shape. Keeps installation.images.no-secret. */
const SHAPES: readonly (readonly [what: string, shape: RegExp])[] = [
  ['a private key', /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s+[A-Za-z0-9+/=\s]{48}/],
  ['an API key', /\bwts_[0-9A-Za-z]{49}\b/],
  ['a token of npm', /\bnpm_[A-Za-z0-9]{36}\b|_authToken\s*=\s*[^\s$]/],
  ['a token of GitHub', /\bgh[pousr]_[A-Za-z0-9]{36}\b/],
  ['a key of AWS', /\bAKIA[0-9A-Z]{16}\b/],
  ['a private key of a service', /\bMC4CAQAwBQYDK2VwBCIEI[A-Za-z0-9+/]{40}/],
];

/** Says which kind of secret a text has; null for none. */
export function findSecret(text: string): string | null {
  return SHAPES.find(([, shape]) => shape.test(text))?.[0] ?? null;
}
