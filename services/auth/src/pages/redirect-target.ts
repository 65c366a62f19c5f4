/** Where an app gets its answers. */
export interface Target {
  readonly kind: 'site' | 'loopback' | 'app';
  /** The host, or the scheme of an app on this device. */
  readonly shown: string;
  /** For `form-action`: Chromium applies it to the redirect after the form too. */
  readonly source: string;
}

const LOOPBACK: readonly string[] = ['127.0.0.1', '[::1]', 'localhost'];
/** A policy cannot name an IPv6 address. */
const NAMEABLE = /^[a-z0-9.-]+$/;

export function targetOf(redirectUri: string): Target {
  const { protocol, hostname, host } = new URL(redirectUri);
  if (protocol !== 'https:' && protocol !== 'http:') return { kind: 'app', shown: protocol, source: protocol };
  const source = NAMEABLE.test(hostname) ? `${protocol}//${host}` : protocol;
  return { kind: LOOPBACK.includes(hostname) ? 'loopback' : 'site', shown: host, source };
}
