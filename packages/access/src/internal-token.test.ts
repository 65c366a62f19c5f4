import assert from 'node:assert/strict';
import { createHmac, sign } from 'node:crypto';
import { CALLS, Fault, LIMITS, type Principal, type ServiceName } from '@wts/contracts';
import { tokenMinter, tokenReader, type ReadToken } from './internal-token.ts';
import { generateServiceKey, parsePrivateKey, parsePublicKeys } from './service-keys.ts';

const NOW = 1_800_000_000;
const CALLERS = (Object.keys(CALLS) as ServiceName[]).filter((service) => CALLS[service].length > 0);
const TEXTS = Object.fromEntries(CALLERS.map((service) => [service, generateServiceKey()]));
const KEYS = parsePublicKeys(
  JSON.stringify(Object.fromEntries(CALLERS.map((service) => [service, [TEXTS[service]?.publicKey]]))),
);
const keyOf = (service: ServiceName) => parsePrivateKey(TEXTS[service]?.privateKey ?? '');
let serial = 0;

function person(more: Partial<Principal> = {}): Principal {
  serial += 1;
  return {
    userId: `user-${serial}`,
    scopes: ['read', 'write'],
    credential: { kind: 'api_key', id: `key-${serial}` },
    ...more,
  };
}

const minterOf = (from: ServiceName, to: string) => tokenMinter({ from, to, key: keyOf(from) });
const mint = minterOf('gateway', 'sync');
const read = tokenReader('sync', KEYS);

function refuses(token: string, now = NOW, reader: ReadToken = read): void {
  assert.throws(
    () => reader(token, now),
    (fault) => fault instanceof Fault && fault.code === 'token_invalid',
  );
}

/** The claims of a correct token. */
const GOOD = {
  iss: 'wts-internal',
  aud: 'sync',
  act: 'gateway',
  sub: 'u',
  iat: NOW,
  exp: NOW + 60,
  scopes: ['read'],
  credential: { kind: 'jwt', id: 'x' },
};
const HEADER = { alg: 'Ed25519', kid: keyOf('gateway').id, typ: 'wts-internal' };
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token with any header and claims, signed with the key of a service. */
function signed(claims: unknown, header: object = HEADER, by: ServiceName = 'gateway'): string {
  const content = `${part(header)}.${part(claims)}`;
  return `${content}.${sign(null, Buffer.from(content), keyOf(by).key).toString('base64url')}`;
}

describe('an internal token', () => {
  it('contains the whole principal and the service that calls', () => {
    for (const principal of [person(), person({ workspaceId: 'w', expiresAt: NOW + 5 }), person({ scopes: [] })]) {
      const call = read(mint(principal, NOW), NOW);
      assert.deepEqual([call.principal, call.caller], [principal, 'gateway']);
    }
  });

  it('is refused by every other service than its audience, also from the cache [authentication.internal.audience]', () => {
    const token = mint(person(), NOW);
    read(token, NOW);
    for (const service of ['workspace', 'gateway', 'Sync', '']) refuses(token, NOW, tokenReader(service, KEYS));
  });

  it('is refused after it has expired, also from the cache', () => {
    const token = mint(person(), NOW);
    read(token, NOW);
    read(token, NOW + LIMITS.internalTokenSeconds);
    refuses(token, NOW + LIMITS.internalTokenSeconds + 5);
    refuses(token, NOW + LIMITS.internalTokenSeconds + 5, tokenReader('sync', KEYS));
  });

  it('is accepted from each service exactly where that service calls [authentication.internal.keys]', () => {
    for (const from of CALLERS) {
      for (const to of Object.keys(CALLS) as ServiceName[]) {
        const token = minterOf(from, to)(person(), NOW);
        const reader = tokenReader(to, KEYS);
        if (CALLS[from].includes(to)) assert.equal(reader(token, NOW).caller, from);
        else refuses(token, NOW, reader);
      }
    }
  });

  it('is refused when a service signs in the name of another one [authentication.internal.keys]', () => {
    for (const thief of CALLERS.filter((service) => service !== 'workspace')) {
      refuses(tokenMinter({ from: 'workspace', to: 'sync', key: keyOf(thief) })(person(), NOW));
      refuses(signed({ ...GOOD, act: 'workspace' }, { ...HEADER, kid: keyOf('workspace').id }, thief));
    }
  });

  it('is refused when a key that no service has signed it', () => {
    const stranger = parsePrivateKey(generateServiceKey().privateKey);
    refuses(tokenMinter({ from: 'gateway', to: 'sync', key: stranger })(person(), NOW));
    refuses(tokenMinter({ from: 'gateway', to: 'sync', key: { ...stranger, id: keyOf('gateway').id } })(person(), NOW));
  });

  it('is accepted under the old and the new key of a service while one replaces the other, and not after [authentication.internal.rotation]', () => {
    const [old, next] = [generateServiceKey(), generateServiceKey()];
    const minted = ({ privateKey }: { privateKey: string }): string =>
      tokenMinter({ from: 'gateway', to: 'sync', key: parsePrivateKey(privateKey) })(person(), NOW);
    const readerOf = (...keys: { publicKey: string }[]): ReadToken =>
      tokenReader('sync', parsePublicKeys(JSON.stringify({ gateway: keys.map(({ publicKey }) => publicKey) })));
    const both = readerOf(old, next);
    for (const key of [old, next]) assert.equal(both(minted(key), NOW).caller, 'gateway');
    refuses(minted(generateServiceKey()), NOW, both);
    const after = readerOf(next);
    refuses(minted(old), NOW, after);
    assert.equal(after(minted(next), NOW).caller, 'gateway');
  });

  it('is the same for 20 seconds, then minted again', () => {
    const principal = person();
    const token = mint(principal, NOW);
    assert.equal(mint({ ...principal }, NOW + 19), token);
    assert.equal(mint(principal, NOW + 19), token);
    assert.notEqual(mint(principal, NOW + 20), token);
  });

  it('is not minted ahead of time when the clock is set back', () => {
    const principal = person();
    const late = mint(principal, NOW + 1000);
    assert.notEqual(mint(principal, NOW), late);
  });

  it('differs for different principals, services called and services that call', () => {
    const base = person();
    const others: Principal[] = [
      base,
      { ...base, userId: 'another' },
      { ...base, scopes: ['read'] },
      { ...base, credential: { kind: 'jwt', id: base.credential.id } },
      { ...base, credential: { kind: 'api_key', id: 'another' } },
      { ...base, workspaceId: 'w' },
      { ...base, expiresAt: NOW + 100 },
    ];
    const tokens = new Set(others.map((principal) => mint(principal, NOW)));
    tokens.add(minterOf('gateway', 'workspace')(base, NOW));
    tokens.add(minterOf('graph', 'sync')(base, NOW));
    assert.equal(tokens.size, others.length + 2);
  });

  describe('is refused', () => {
    const wrong: Readonly<Record<string, object>> = {
      'from another issuer': { iss: 'someone' },
      'without a person': { sub: '' },
      'without a subject': { sub: undefined },
      'with a scope there is not': { scopes: ['root'] },
      'with scopes that are no list': { scopes: 'read' },
      'of a kind there is not': { credential: { kind: 'god', id: 'x' } },
      'without a credential': { credential: null },
      'that never expires': { exp: undefined },
      'without the service it is for [authentication.internal.audience]': { aud: undefined },
      'for a list of services [authentication.internal.audience]': { aud: ['sync', 'workspace'] },
      'for a list of one service': { aud: ['sync'] },
      'for another service [authentication.internal.audience]': { aud: 'workspace' },
      'without the service that calls [authentication.internal.audience]': { act: undefined },
      'in the name of another service [authentication.internal.keys]': { act: 'workspace' },
      'with a caller that is no name': { act: { sub: 'gateway' } },
      'with an empty caller': { act: '' },
      'that is valid for a year [authentication.internal.audience]': { exp: NOW + 31_536_000 },
      'that is valid for a second too long': { exp: NOW + 61 },
      'without the moment it was minted at': { iat: undefined },
      'from the future': { iat: NOW + 30 },
      'that is not valid yet': { iat: NOW + 600, exp: NOW + 660 },
      'that ends before it begins': { iat: NOW, exp: NOW - 60 },
    };
    for (const [what, claims] of Object.entries(wrong)) {
      it(what, () => {
        read(signed({ ...GOOD, sub: what }), NOW);
        refuses(signed({ ...GOOD, ...claims }));
      });
    }

    it('with claims that are no object', () => {
      for (const claims of [null, 'text', 7, []]) refuses(signed(claims));
    });

    it('with any other header, also when the right key signed it [authentication.internal.keys]', () => {
      read(signed(GOOD), NOW);
      const { kid } = HEADER;
      const headers: object[] = [
        { ...HEADER, alg: 'none' },
        { ...HEADER, alg: 'HS256' },
        { ...HEADER, alg: 'EdDSA' },
        { ...HEADER, kid: 'unknown' },
        { ...HEADER, kid: keyOf('workspace').id },
        { ...HEADER, typ: 'JWT' },
        { ...HEADER, crit: ['exp'] },
        { ...HEADER, jwk: keyOf('gateway').key.export({ format: 'jwk' }) },
        { alg: 'Ed25519', typ: 'wts-internal' },
        { kid, alg: 'Ed25519', typ: 'wts-internal' },
        {},
      ];
      for (const header of headers) refuses(signed(GOOD, header));
    });

    it('without a signature, or with an HMAC under the public key', () => {
      const publicKey = Buffer.from(TEXTS['gateway']?.publicKey ?? '', 'base64');
      for (const header of [HEADER, { ...HEADER, alg: 'none' }, { ...HEADER, alg: 'HS256' }]) {
        const content = `${part(header)}.${part(GOOD)}`;
        const mac = (key: Buffer): string => createHmac('sha256', key).update(content).digest('base64url');
        const pem = Buffer.from(KEYS.get('gateway')?.[0]?.key.export({ type: 'spki', format: 'pem' }) ?? '');
        for (const end of ['.', '', `.${mac(publicKey)}`, `.${mac(pem)}`, `.${mac(publicKey.subarray(12))}`])
          refuses(content + end);
      }
    });

    it('when any character of it was changed, added or removed', () => {
      const token = signed(GOOD);
      const [header = '', payload = '', signature = ''] = token.split('.');
      const other = part({ ...GOOD, sub: 'someone else' });
      for (const wrong of ['', '.', '..', `${token}.`, `${token}.x`, `${header}.${other}.${signature}`]) refuses(wrong);
      for (const wrong of [`x${token}`, `${header}.${payload}x.${signature}`, `${header}.${payload}.x${signature}`])
        refuses(wrong);
      refuses(token.replace('.', '..'));
    });
  });
});

describe('the keys of services', () => {
  const { privateKey, publicKey } = generateServiceKey();

  it('are refused in any other form, without repeating it [authentication.internal.rotation]', () => {
    const other = generateServiceKey().publicKey;
    const listed: readonly (readonly [unknown, RegExp])[] = [
      ['text', /must be JSON/],
      [[publicKey], /must be JSON/],
      [null, /must be JSON/],
      [{ gatevay: [publicKey] }, /"gatevay", which is no service/],
      [{ 'webhook-dispatcher': [publicKey] }, /which is no service that calls others/],
      [{ gateway: publicKey }, /a list of one key for gateway/],
      [{ gateway: [] }, /a list of one key for gateway/],
      [{ gateway: [publicKey, other, generateServiceKey().publicKey] }, /or of two/],
      [{ gateway: [privateKey] }, /one of gateway is none/],
      [{ gateway: ['short'] }, /one of gateway is none/],
      [{ gateway: [7] }, /one of gateway is none/],
      [{ gateway: [publicKey], graph: [publicKey] }, /the same key twice, for gateway and graph/],
    ];
    for (const [value, message] of listed) {
      const text = value === 'text' ? value : JSON.stringify(value);
      assert.throws(
        () => parsePublicKeys(text),
        (error: Error) => message.test(error.message) && !error.message.includes(privateKey),
      );
    }
    for (const text of ['short', publicKey, Buffer.alloc(48).toString('base64')]) {
      assert.throws(
        () => parsePrivateKey(text),
        ({ message }: Error) => message.includes('private key of Ed25519') && !message.includes(text),
      );
    }
  });

  it('may be written with line breaks, as openssl prints them', () =>
    assert.equal(parsePrivateKey(privateKey.replace(/(.{60})/, '$1\n')).id, parsePrivateKey(privateKey).id));
});
