import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { KeyObject, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';

/** What a TLS server shows: its certificate, with intermediate ones after it, and its key. Both are PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

export interface IdentityOptions {
  /** Host names and IP addresses the certificate is for. Default: `localhost` and both loopback addresses. */
  readonly hosts?: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** Signed by an intermediate authority; 'missing' leaves that one's certificate out of what the server shows. */
  readonly intermediate?: 'shown' | 'missing';
}

/** A certificate authority. A program that trusts `certificate` trusts every identity that it issued. */
export interface Authority {
  readonly certificate: string;
  issue(options?: IdentityOptions): Promise<Identity>;
}

interface Issuer {
  readonly name: string;
  readonly keys: webcrypto.CryptoKeyPair;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const LOOPBACK = ['localhost', '127.0.0.1', '::1'];
const DAY_MS = 86_400_000;

/** The key of the authority is in memory only: when the process ends, no further certificate can be issued. */
export async function makeAuthority(name: string, days = 7): Promise<Authority> {
  x509.cryptoProvider.set(webcrypto);
  const root: Issuer = { name: `CN=${name}`, keys: await makeKeys() };
  const notAfter = new Date(Date.now() + days * DAY_MS);
  const certificate = await sign({ subject: root, issuer: root, extensions: authorityExtensions(), notAfter });
  return { certificate, issue: (options = {}) => issueFrom(root, { notAfter, ...options }) };
}

async function issueFrom(root: Issuer, options: IdentityOptions): Promise<Identity> {
  const { hosts = LOOPBACK, notBefore, notAfter, intermediate } = options;
  const subject: Issuer = { name: 'CN=Development server', keys: await makeKeys() };
  const middle: Issuer | null =
    intermediate === undefined ? null : { name: 'CN=Development intermediate', keys: await makeKeys() };
  const names = hosts.map((host) => ({ type: isIP(host) !== 0 ? ('ip' as const) : ('dns' as const), value: host }));
  const extensions = [
    new x509.SubjectAlternativeNameExtension(names),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
  ];
  const own = await sign({ subject, issuer: middle ?? root, extensions, notBefore, notAfter });
  const shown =
    middle === null || intermediate === 'missing'
      ? [own]
      : [own, await sign({ subject: middle, issuer: root, extensions: authorityExtensions() })];
  const key = KeyObject.from(subject.keys.privateKey).export({ type: 'pkcs8', format: 'pem' });
  return { cert: shown.join('\n'), key };
}

async function sign(task: {
  readonly subject: Issuer;
  readonly issuer: Issuer;
  readonly extensions: x509.Extension[];
  readonly notBefore?: Date | undefined;
  readonly notAfter?: Date | undefined;
}): Promise<string> {
  const { subject, issuer, extensions } = task;
  const certificate = await x509.X509CertificateGenerator.create({
    subject: subject.name,
    issuer: issuer.name,
    publicKey: subject.keys.publicKey,
    signingKey: issuer.keys.privateKey,
    signingAlgorithm: ALGORITHM,
    // An hour ago, because clocks of machines differ.
    notBefore: task.notBefore ?? new Date(Date.now() - 3_600_000),
    notAfter: task.notAfter ?? new Date(Date.now() + 7 * DAY_MS),
    extensions,
  });
  return certificate.toString('pem');
}

function authorityExtensions(): x509.Extension[] {
  return [
    new x509.BasicConstraintsExtension(true, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
  ];
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}
