export interface SmtpSetting {
  readonly host: string;
  readonly port: number;
  /** `always`: TLS from the first byte. `required`: by STARTTLS, or nothing is sent. `off`: clear text. */
  readonly tls: 'always' | 'required' | 'off';
  readonly auth: { readonly user: string; readonly pass: string } | null;
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);

/**
 * Reads the setting SMTP_URL. Throws an Error that completes the sentence "SMTP_URL ...". The password and the mails have secrets, so clear
 * text has to be asked for, except on this machine.
 */
export function parseSmtpUrl(text: string): SmtpSetting {
  if (!URL.canParse(text)) throw new Error('must be a URL such as smtps://user:password@mail.example.com');
  const { protocol, hostname, port, username, password, searchParams, pathname, hash } = new URL(text);
  if (protocol !== 'smtp:' && protocol !== 'smtps:') throw new Error('must start with smtp:// or smtps://');
  if (hostname === '' || pathname.length > 1 || hash !== '') throw new Error('must have a host and no path');
  const unknown = [...searchParams.keys()].find((name) => name !== 'tls');
  if (unknown !== undefined) throw new Error(`has the parameter ${unknown}; only tls is known`);
  const tls = searchParams.get('tls');
  if (tls !== null && (tls !== 'off' || protocol === 'smtps:')) throw new Error('may have tls=off with smtp:// only');
  const isSecure = protocol === 'smtps:';
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    tls: isSecure ? 'always' : tls === 'off' || LOOPBACK.has(hostname) ? 'off' : 'required',
    auth: username === '' ? null : { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
  };
}

export interface Sender {
  readonly name: string;
  readonly address: string;
}

const SENDER = /^(?:([^<>"\p{C}]{0,100}?) *<)?([!-;=?A-~]{1,64}@(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f.:]+\]))>?$/u;

/** Reads the setting MAIL_FROM. Throws an Error that completes the sentence "MAIL_FROM ...". */
export function parseSender(text: string): Sender {
  const [, name, address] = SENDER.exec(text.trim()) ?? [];
  if (address === undefined || text.trim().endsWith('>') !== (name !== undefined))
    throw new Error('must be an address, or `Name <address>`');
  return { name: name?.trim() ?? '', address };
}
