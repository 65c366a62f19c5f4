/** Scheme, authority, and the rest. */
const ABSOLUTE = /^(https?):\/\/([^/?#]+)(.*)$/is;
const USUAL_PORT: Readonly<Record<string, string>> = { http: ':80', https: ':443' };

/**
 * A request target as a path. Clients may send an absolute URL (RFC 9112 section 3.2.2), which a server must accept. The path is
 * taken from one whose authority equals Host, so that a request never leads to another host. Any other target is returned
 * unchanged, and refused by `faultOfTarget`.
 * Keeps meta.target.
 */
export function originForm(target: string, host: string | undefined): string {
  if (target[0] === '/') return target;
  const [, scheme, authority, rest] = ABSOLUTE.exec(target) ?? [];
  if (scheme === undefined || authority === undefined || rest === undefined || host === undefined) return target;
  const port = USUAL_PORT[scheme.toLowerCase()] ?? '';
  if (plain(authority, port) !== plain(host, port)) return target;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function plain(authority: string, usualPort: string): string {
  const text = authority.toLowerCase();
  return text.endsWith(usualPort) ? text.slice(0, -usualPort.length) : text;
}
