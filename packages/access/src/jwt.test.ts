import assert from 'node:assert/strict';
import { createHmac, createPublicKey, generateKeyPairSync, sign as signBytes, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Fault } from '@wts/contracts';
import { parseIssuers, type Issuer } from './issuers.ts';
import { verifyJwt } from './jwt.ts';

const NOW = 1_800_000_000;
const SECRET = 'a shared secret of 32 bytes or more';
const SHARED = 'https://shared.test';
const REMOTE = 'https://remote.test';
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 });

type Json = Record<string, unknown>;
type Signer = (input: string) => Buffer;

const withSecret =
  (secret: string | Buffer): Signer =>
  (input) =>
    createHmac('sha256', secret).update(input).digest();
const withRsa =
  (key: KeyObject): Signer =>
  (input) =>
    signBytes('sha256', Buffer.from(input), key);
const withEc: Signer = (input) =>
  signBytes('sha256', Buffer.from(input), { key: ec.privateKey, dsaEncoding: 'ieee-p1363' });
const unsigned: Signer = () => Buffer.alloc(0);

const base64url = (text: string): string => Buffer.from(text).toString('base64url');

/** Builds a token from raw JSON texts, because the cases are about what well-behaved libraries never write. */
function token(header: Json | string, payload: Json | string, signer: Signer): string {
  const texts = [header, payload].map((part) => base64url(typeof part === 'string' ? part : JSON.stringify(part)));
  const input = texts.join('.');
  return `${input}.${signer(input).toString('base64url')}`;
}

const sharedClaims: Json = { iss: SHARED, aud: 'wts', sub: 'ann', iat: NOW - 5, exp: NOW + 300 };
const remoteClaims: Json = { ...sharedClaims, iss: REMOTE };
/** The good claims with something changed; undefined takes a claim away. */
const but = (more: Json): Json => ({ ...sharedClaims, ...more });
const hs = { alg: 'HS256', typ: 'JWT' };
const rs = { alg: 'RS256', typ: 'JWT', kid: 'rsa-1' };
const shared = (payload: Json | string, header: Json | string = hs): string =>
  token(header, payload, withSecret(SECRET));
const remote = (payload: Json | string, header: Json | string = rs): string =>
  token(header, payload, withRsa(rsa.privateKey));

const jwk = (key: KeyObject, kid: string, alg: string): Json => ({
  ...key.export({ format: 'jwk' }),
  kid,
  alg,
  use: 'sig',
});
const keySet = { keys: [jwk(rsa.publicKey, 'rsa-1', 'RS256'), jwk(ec.publicKey, 'ec-1', 'ES256')] };

function issuers(): Issuer[] {
  return parseIssuers(
    JSON.stringify([
      { issuer: SHARED, audiences: ['wts', 'wts-beta'], algorithms: ['HS256'], secret: SECRET },
      { issuer: REMOTE, audiences: ['wts'], algorithms: ['RS256', 'ES256'], jwksUri: 'https://remote.test/keys' },
    ]),
  );
}

describe('a JWT', () => {
  let list: Issuer[];
  let fetches: number;
  const fetchJwks = async (): Promise<Buffer> => {
    fetches += 1;
    return Buffer.from(JSON.stringify(keySet));
  };
  beforeEach(() => {
    list = issuers();
    fetches = 0;
  });
  const verify = (text: string, now = NOW): ReturnType<typeof verifyJwt> => verifyJwt(text, list, { now, fetchJwks });
  const refuses = (text: string, now = NOW): Promise<void> =>
    assert.rejects(verify(text, now), (fault) => fault instanceof Fault && fault.code === 'token_invalid');

  describe('is accepted', () => {
    it('from an issuer with a secret, and returns its subject', async () => {
      const verified = await verify(shared(but({ name: 'Ann' })));
      assert.equal(verified.issuer, SHARED);
      assert.equal(verified.subject, 'ann');
      assert.equal(verified.expiresAt, NOW + 300);
      assert.equal(verified.claims.name, 'Ann');
    });
    it('with either secret of an issuer while one replaces the other, and with none that was removed [secrets.issuers]', async () => {
      const next = 'another secret of 32 bytes or more';
      const byNext = token(hs, sharedClaims, withSecret(next));
      const change = (secret: string | readonly string[]): void => {
        const issuer = { issuer: SHARED, audiences: ['wts'], algorithms: ['HS256'], secret };
        list = parseIssuers(JSON.stringify([issuer]));
      };
      await refuses(byNext);
      change([SECRET, next]);
      await verify(byNext);
      await verify(shared(sharedClaims));
      change(next);
      await verify(byNext);
      await refuses(shared(sharedClaims));
    });
    it('from an issuer with a key set, by RSA or elliptic curve', async () => {
      assert.equal((await verify(remote(remoteClaims))).subject, 'ann');
      assert.equal((await verify(token({ alg: 'ES256', kid: 'ec-1' }, remoteClaims, withEc))).subject, 'ann');
      assert.equal(fetches, 1);
    });
    it('with one of several audiences', () => verify(shared(but({ aud: ['other', 'wts-beta'] }))));
    it('without typ, or with JWT in any case', async () => {
      await verify(shared(sharedClaims, { alg: 'HS256' }));
      await verify(shared(sharedClaims, { alg: 'HS256', typ: 'jwt' }));
    });
    it('without iat, and with an iat of up to 60 seconds ahead', async () => {
      await verify(shared(but({ iat: undefined })));
      await verify(shared(but({ iat: NOW + 60 })));
    });
    it('with an nbf of up to 5 seconds ahead, and a sub of up to 255 characters', () =>
      verify(shared(but({ nbf: NOW + 5, sub: 's'.repeat(255) }))));
    it('until the second before it expires', async () => {
      await verify(shared(but({ exp: NOW + 1 })));
      await refuses(shared(but({ exp: NOW })));
    });
  });

  /** The table of named attacks and mistakes. Every one is answered alike. */
  const cases: Readonly<Record<string, () => string>> = {
    'alg none': () => token({ alg: 'none' }, sharedClaims, unsigned),
    'alg none with a signature': () => token({ alg: 'none' }, sharedClaims, withSecret(SECRET)),
    'alg NoNe': () => token({ alg: 'NoNe' }, sharedClaims, withSecret(SECRET)),
    'alg empty': () => shared(sharedClaims, { alg: '' }),
    'alg missing': () => shared(sharedClaims, { typ: 'JWT' }),
    'alg in lower case': () => shared(sharedClaims, { alg: 'hs256' }),
    'alg as a list': () => shared(sharedClaims, { alg: ['HS256'] }),
    'HS256 signed with the public key in PEM': () =>
      token({ ...rs, alg: 'HS256' }, remoteClaims, withSecret(rsa.publicKey.export({ type: 'spki', format: 'pem' }))),
    'HS256 signed with the public key as JWK': () =>
      token({ ...rs, alg: 'HS256' }, remoteClaims, withSecret(JSON.stringify(keySet.keys[0]))),
    'HS256 signed with the secret of another issuer': () =>
      token({ ...rs, alg: 'HS256' }, remoteClaims, withSecret(SECRET)),
    'an algorithm the issuer does not use': () =>
      token({ ...rs, alg: 'RS384' }, remoteClaims, (input) => signBytes('sha384', Buffer.from(input), rsa.privateKey)),
    'the algorithm of another key': () => token({ alg: 'ES256', kid: 'rsa-1' }, remoteClaims, withEc),
    'a wrong secret': () => token(hs, sharedClaims, withSecret('another secret of 32 bytes or more')),
    'a wrong key': () => token(rs, remoteClaims, withRsa(foreign.privateKey)),
    'an empty signature': () => token(hs, sharedClaims, unsigned),
    'a changed payload': () => {
      const [header, , signature] = shared(sharedClaims).split('.');
      return `${header}.${base64url(JSON.stringify({ ...sharedClaims, sub: 'bob' }))}.${signature}`;
    },
    'an embedded jwk': () =>
      token({ ...rs, jwk: foreign.publicKey.export({ format: 'jwk' }) }, remoteClaims, withRsa(foreign.privateKey)),
    'an embedded jwk beside a good signature': () => remote(remoteClaims, { ...rs, jwk: keySet.keys[0] }),
    'a certificate chain of its own': () => remote(remoteClaims, { ...rs, x5c: ['MII'] }),
    'a kid that is a path': () => remote(remoteClaims, { ...rs, kid: '../../dev/null' }),
    'a kid that is SQL': () => remote(remoteClaims, { ...rs, kid: "' OR 1=1--" }),
    'a kid of 7 KB': () => remote(remoteClaims, { ...rs, kid: 'k'.repeat(5000) }),
    'a kid of 1 MB': () => remote(remoteClaims, { ...rs, kid: 'k'.repeat(1024 * 1024) }),
    'an unknown kid': () => remote(remoteClaims, { ...rs, kid: 'rsa-2' }),
    'a kid in another case': () => remote(remoteClaims, { ...rs, kid: 'RSA-1' }),
    'a kid that is a number': () => remote(remoteClaims, { ...rs, kid: 1 }),
    'no kid where keys have names': () => remote(remoteClaims, { alg: 'RS256' }),
    'an unknown crit': () => shared(sharedClaims, { ...hs, crit: ['exp'] }),
    'an empty crit': () => shared(sharedClaims, { ...hs, crit: [] }),
    'a payload that is not encoded (b64)': () => shared(sharedClaims, { ...hs, b64: false }),
    'a compressed payload': () => shared(sharedClaims, { ...hs, zip: 'DEF' }),
    'exp in the past': () => shared(but({ exp: NOW - 1 })),
    'exp 60 seconds ago': () => shared(but({ exp: NOW - 60 })),
    'exp missing': () => shared(but({ exp: undefined })),
    'exp null': () => shared(but({ exp: null })),
    'exp as text': () => shared(but({ exp: String(NOW + 300) })),
    'exp NaN': () => shared(JSON.stringify(sharedClaims).replace(/"exp":\d+/, '"exp":NaN')),
    'exp 1e400': () => shared(JSON.stringify(sharedClaims).replace(/"exp":\d+/, '"exp":1e400')),
    'exp beyond every calendar': () => shared(but({ exp: 1e15 })),
    'exp as a list': () => shared(but({ exp: [NOW + 300] })),
    'nbf in the future': () => shared(but({ nbf: NOW + 60 })),
    'nbf in 6 seconds': () => shared(but({ nbf: NOW + 6 })),
    'nbf as text': () => shared(but({ nbf: '0' })),
    'iat in an hour': () => shared(but({ iat: NOW + 3600 })),
    'iat in 61 seconds': () => shared(but({ iat: NOW + 61 })),
    'iat as text': () => shared(but({ iat: String(NOW) })),
    'iat negative': () => shared(but({ iat: -1 })),
    'aud missing': () => shared(but({ aud: undefined })),
    'aud of another client': () => shared(but({ aud: 'other' })),
    'aud a list without us': () => shared(but({ aud: ['other', 'another'] })),
    'aud an empty list': () => shared(but({ aud: [] })),
    'aud in another case': () => shared(but({ aud: 'WTS' })),
    'aud an object': () => shared(but({ aud: { 0: 'wts', length: 1 } })),
    'the audience of another issuer': () => remote({ ...remoteClaims, aud: 'wts-beta' }),
    'iss with a trailing slash': () => shared(but({ iss: `${SHARED}/` })),
    'iss that is not configured': () => shared(but({ iss: 'https://evil.test' })),
    'iss missing': () => shared(but({ iss: undefined })),
    'iss as a list': () => shared(but({ iss: [SHARED] })),
    'sub missing': () => shared(but({ sub: undefined })),
    'sub empty': () => shared(but({ sub: '' })),
    'sub a number': () => shared(but({ sub: 7 })),
    'sub of 256 characters': () => shared(but({ sub: 's'.repeat(256) })),
    'sub with a NUL': () => shared(but({ sub: 'ann\u0000' })),
    'an access token of OAuth where a session is expected': () => shared(sharedClaims, { ...hs, typ: 'at+jwt' }),
    'a refresh token by its typ': () => shared(sharedClaims, { ...hs, typ: 'rt+jwt' }),
    'typ that is no text': () => shared(sharedClaims, { ...hs, typ: 1 }),
    'five parts (JWE)': () =>
      `${base64url('{"alg":"dir","enc":"A128GCM"}')}..${base64url('iv')}.${base64url('text')}.${base64url('tag')}`,
    'five parts, all filled': () => 'eyJhbGciOiJIUzI1NiJ9.YQ.YQ.YQ.YQ',
    'two parts': () => shared(sharedClaims).split('.').slice(0, 2).join('.'),
    'four parts': () => `${shared(sharedClaims)}.YQ`,
    'padding in a part': () => shared(sharedClaims).replace('.', '=.'),
    'characters of plain base64': () => `${shared(sharedClaims)}+/`,
    'a line feed at the end': () => `${shared(sharedClaims)}\n`,
    'a payload that is a list': () => shared('["wts"]'),
    'a payload that is null': () => shared('null'),
    'a payload that is text': () => shared('"ann"'),
    'a payload that is no JSON': () => shared('{'),
    'a payload that is empty': () => shared(''),
    'a payload in invalid UTF-8': () => {
      const input = `${base64url(JSON.stringify(hs))}.${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}`;
      return `${input}.${withSecret(SECRET)(input).toString('base64url')}`;
    },
    'a payload behind a byte order mark': () => shared(`\uFEFF${JSON.stringify(sharedClaims)}`),
    'a payload with a key twice': () => shared(`{"sub":"bob",${JSON.stringify(sharedClaims).slice(1)}`),
    'a header with a key twice': () => shared(sharedClaims, '{"alg":"none","alg":"HS256"}'),
    'a payload nested 100 levels deep': () => shared(but({ deep: JSON.parse('['.repeat(100) + ']'.repeat(100)) })),
    'a header that is a list': () => shared(sharedClaims, '["HS256"]'),
    '10 KB': () => shared(but({ filler: 'x'.repeat(10 * 1024) })),
    'nothing at all': () => '',
    'an authorization code': () => 'c0de',
  };

  describe('is refused with [authentication.jwt.strict]', () => {
    for (const [what, make] of Object.entries(cases)) it(what, () => refuses(make()));
  });

  it('with an address of keys causes no request to it', async () => {
    let asked = 0;
    const listener = createServer((_req, res) => {
      asked += 1;
      res.end(JSON.stringify({ keys: [jwk(foreign.publicKey, 'rsa-1', 'RS256')] }));
    });
    await new Promise<void>((resolve) => {
      listener.listen(0, '127.0.0.1', resolve);
    });
    const address = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/keys`;
    for (const name of ['jku', 'x5u']) {
      await refuses(token({ ...rs, [name]: address }, remoteClaims, withRsa(foreign.privateKey)));
      await refuses(remote(remoteClaims, { ...rs, [name]: address }));
    }
    await refuses(remote({ ...remoteClaims, iss: address }));
    await new Promise((resolve) => listener.close(resolve));
    assert.equal(asked, 0);
  });

  it('is checked by its header and claims before the keys of its issuer are fetched', async () => {
    await refuses(remote({ ...remoteClaims, exp: NOW - 1 }));
    await refuses(remote(remoteClaims, { ...rs, alg: 'HS256' }));
    assert.equal(fetches, 0);
  });

  it('is verified with a published key only, never with a public key as a secret', () => {
    // Guards the test itself: the PEM attack above uses exactly the key the issuer publishes.
    const published = createPublicKey({ key: keySet.keys[0] as never, format: 'jwk' });
    assert.ok(published.equals(rsa.publicKey));
  });
});
