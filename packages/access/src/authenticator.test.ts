import assert from 'node:assert/strict';
import { errorBody, Fault, LIMITS, SCOPES, type ErrorCode, type Principal } from '@wts/contracts';
import jwt from 'jsonwebtoken';
import { accessTokenIssuer } from './access-token.ts';
import { generateApiKey } from './api-key.ts';
import { createAuthenticator, type Authenticator } from './authenticator.ts';
import type { TokenIdentity } from './identity-of.ts';
import { parseIssuers } from './issuers.ts';

const SECRET = 'a shared secret of 32 bytes or more';
const issuer = { issuer: 'https://idp.test', audiences: ['wts'], algorithms: ['HS256'], secret: SECRET };
const START_MS = 1_800_000_000_000;

/** An authenticator and its store, both under the control of the test. */
class Setup {
  nowMs = START_MS;
  readonly keys = new Map<string, Principal>();
  readonly people: TokenIdentity[] = [];
  lookups = 0;
  /** What a look-up waits for, after it has read the store. */
  gate: Promise<unknown> = Promise.resolve();
  readonly authenticator: Authenticator;

  constructor(more: object = {}) {
    this.authenticator = createAuthenticator({
      issuers: parseIssuers(JSON.stringify([{ ...issuer, ...more }])),
      accessTokens: {
        issuer: accessTokenIssuer({
          authUrl: 'https://auth.test',
          baseUrl: 'https://api.test',
          fetchKeys: () => Promise.reject(new Error('none')),
        }),
        resolveGrant: async () => null,
      },
      apiKeyPrefix: 'wts_',
      clock: () => this.nowMs,
      resolveApiKey: async (hash) => {
        this.lookups += 1;
        const found = this.keys.get(hash) ?? null;
        await this.gate;
        return found;
      },
      resolvePerson: async (identity) => {
        this.people.push(identity);
        return `user of ${identity.subject}`;
      },
    });
  }

  addKey(more: Partial<Principal> = {}): { token: string; hash: string; id: string } {
    const { token, hash } = generateApiKey('wts_');
    const id = `key-${this.keys.size}`;
    this.keys.set(hash, { userId: 'ann', scopes: ['read'], credential: { kind: 'api_key', id }, ...more });
    return { token, hash, id };
  }

  session(claims: object = {}): string {
    const now = Math.floor(this.nowMs / 1000);
    return jwt.sign({ iss: issuer.issuer, aud: 'wts', sub: 'ann', iat: now, exp: now + 300, ...claims }, SECRET);
  }

  bearer(token: string): Promise<Principal> {
    return this.authenticator.authenticate([`Bearer ${token}`]);
  }
}

async function refuses(answer: Promise<Principal>, code: ErrorCode): Promise<void> {
  assert.equal((await faultOf(answer)).code, code);
}

async function faultOf(answer: Promise<Principal>): Promise<Fault> {
  try {
    await answer;
  } catch (fault) {
    if (fault instanceof Fault) return fault;
  }
  throw new Error('It was not refused.');
}

describe('the Authorization header', () => {
  const { authenticator } = new Setup();
  const cases: Readonly<Record<string, [string[], ErrorCode]>> = {
    'that is missing': [[], 'authorization_required'],
    'that is empty': [[''], 'authorization_required'],
    'of another scheme': [['Basic dTpw'], 'authorization_malformed'],
    'of a scheme that begins alike': [['BearerX abc'], 'authorization_malformed'],
    'with the scheme alone': [['Bearer'], 'authorization_malformed'],
    'with the scheme and a blank': [['Bearer '], 'authorization_malformed'],
    'with a bare token': [['abc'], 'authorization_malformed'],
    'with two tokens': [['Bearer a b'], 'authorization_malformed'],
    'with a list': [['Bearer a, Bearer b'], 'authorization_malformed'],
    'with a tab': [['Bearer\tabc'], 'authorization_malformed'],
    'with a token that is not ASCII': [['Bearer tökén'], 'authorization_malformed'],
    'that stands twice': [['Bearer abc', 'Bearer abc'], 'authorization_malformed'],
    'that stands twice, once empty': [['', 'Bearer abc'], 'authorization_malformed'],
    'with a token that is nothing': [['Bearer abc'], 'token_invalid'],
    'with a token of 10 KB': [[`Bearer ${'a'.repeat(10_240)}`], 'token_invalid'],
    'with a key of 10 KB': [[`Bearer wts_${'a'.repeat(10_240)}`], 'api_key_invalid'],
    'with a key of a wrong shape': [['Bearer wts_abc'], 'api_key_invalid'],
  };
  for (const [what, [headers, code]] of Object.entries(cases))
    it(`${what} gets ${code}`, () => refuses(authenticator.authenticate(headers), code));

  it('is refused with the exact texts of the specification', async () => {
    const setup = new Setup();
    const texts = [[], ['Basic x'], [`Bearer ${generateApiKey('wts_').token}`], ['Bearer a.b.c']].map(
      async (headers) => {
        const { error, statusCode } = errorBody(await faultOf(setup.authenticator.authenticate(headers)));
        assert.equal(statusCode, 401);
        return error;
      },
    );
    assert.deepEqual(await Promise.all(texts), [
      'Authorization header required',
      'Invalid authorization format',
      'Invalid API key',
      'Invalid token',
    ]);
  });

  it('is always refused with a challenge, which has an error only when a credential was sent', async () => {
    const challenge = async (...headers: string[]): Promise<string | undefined> =>
      (await faultOf(authenticator.authenticate(headers))).headers['WWW-Authenticate'];
    assert.equal(await challenge(), 'Bearer realm="api"');
    assert.equal(await challenge('Basic x'), 'Bearer realm="api", error="invalid_request"');
    assert.equal(await challenge('Bearer wts_x'), 'Bearer realm="api", error="invalid_token"');
    assert.equal(await challenge('Bearer x'), 'Bearer realm="api", error="invalid_token"');
  });

  it('is read with the scheme in any case and any number of blanks', async () => {
    const setup = new Setup();
    const { token } = setup.addKey();
    for (const header of [`bearer ${token}`, `BEARER ${token}`, `Bearer  ${token}`])
      assert.equal((await setup.authenticator.authenticate([header])).userId, 'ann');
  });
});

describe('an API key at the authenticator', () => {
  it('is resolved to its principal', async () => {
    const setup = new Setup();
    const { token, id } = setup.addKey();
    assert.deepEqual((await setup.bearer(token)).credential, { kind: 'api_key', id });
  });

  it('that never existed, was revoked, or has expired is refused with the same text', async () => {
    const setup = new Setup();
    const revoked = setup.addKey();
    setup.keys.delete(revoked.hash);
    const expired = setup.addKey({ expiresAt: START_MS / 1000 });
    const unknown = generateApiKey('wts_').token;
    const faults = await Promise.all(
      [unknown, revoked.token, expired.token].map((token) => faultOf(setup.bearer(token))),
    );
    const bodies = faults.map((fault) => JSON.stringify([errorBody(fault), fault.headers]));
    assert.equal(new Set(bodies).size, 1);
  });

  it('of a wrong shape or checksum is not looked up', async () => {
    const setup = new Setup();
    const { token } = setup.addKey();
    const typo = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
    await refuses(setup.bearer(typo), 'api_key_invalid');
    assert.equal(setup.lookups, 0);
  });

  it('is looked up once for concurrent requests, and once in five seconds', async () => {
    const setup = new Setup();
    const { token } = setup.addKey();
    await Promise.all(Array.from({ length: 100 }, () => setup.bearer(token)));
    setup.nowMs += LIMITS.credentialCacheMs - 1;
    await setup.bearer(token);
    assert.equal(setup.lookups, 1);
    setup.nowMs += 1;
    await setup.bearer(token);
    assert.equal(setup.lookups, 2);
  });

  it('that was revoked without a message is refused after five seconds', async () => {
    const setup = new Setup();
    const { token, hash } = setup.addKey();
    await setup.bearer(token);
    setup.keys.delete(hash);
    setup.nowMs += LIMITS.credentialCacheMs;
    await refuses(setup.bearer(token), 'api_key_invalid');
  });

  it('is looked up again when the clock is set back, whether it was accepted or refused', async () => {
    const setup = new Setup();
    const { token, hash } = setup.addKey();
    const { token: later, hash: laterHash } = generateApiKey('wts_');
    await setup.bearer(token);
    await refuses(setup.bearer(later), 'api_key_invalid');
    setup.keys.set(laterHash, { userId: 'ann', scopes: ['read'], credential: { kind: 'api_key', id: 'new' } });
    setup.keys.delete(hash);
    setup.nowMs -= 3_600_000;
    await refuses(setup.bearer(token), 'api_key_invalid');
    assert.equal((await setup.bearer(later)).userId, 'ann');
  });

  it('that is refused until its person has a second factor says so also from the cache', async () => {
    const message = 'Add one at https://auth.test/account.';
    const setup = new Setup();
    const { token } = setup.addKey();
    setup.gate = Promise.reject(new Fault('second_factor_required', { message }));
    const first = await faultOf(setup.bearer(token));
    assert.deepEqual([first.publicMessage, (await faultOf(setup.bearer(token))).publicMessage], [message, message]);
    assert.equal(setup.lookups, 1);
  });

  it('is refused from the time it expires, also from the cache', async () => {
    const setup = new Setup();
    const { token } = setup.addKey({ expiresAt: START_MS / 1000 + 2 });
    await setup.bearer(token);
    setup.nowMs += 2_000;
    await refuses(setup.bearer(token), 'api_key_invalid');
  });

  it('that was refused is not looked up again for a second, and works a second after it was created', async () => {
    const setup = new Setup();
    const { token, hash } = generateApiKey('wts_');
    await refuses(setup.bearer(token), 'api_key_invalid');
    await refuses(setup.bearer(token), 'api_key_invalid');
    assert.equal(setup.lookups, 1);
    setup.keys.set(hash, { userId: 'ann', scopes: ['read'], credential: { kind: 'api_key', id: 'new' } });
    setup.nowMs += 1_000;
    assert.equal((await setup.bearer(token)).userId, 'ann');
  });

  it('is not cached as refused when the look-up failed', async () => {
    const setup = new Setup();
    const { token } = setup.addKey();
    setup.gate = Promise.reject(new Fault('unavailable'));
    await refuses(setup.bearer(token), 'unavailable');
    setup.gate = Promise.resolve();
    assert.equal((await setup.bearer(token)).userId, 'ann');
  });

  it('stays cached under any number of wrong keys, whose cache is bounded [never.unbounded]', async () => {
    const setup = new Setup();
    const { token } = setup.addKey();
    await setup.bearer(token);
    const first = generateApiKey('wts_').token;
    await refuses(setup.bearer(first), 'api_key_invalid');
    for (let index = 0; index < 10_000; index += 1)
      await refuses(setup.bearer(generateApiKey('wts_').token), 'api_key_invalid');
    const before = setup.lookups;
    await setup.bearer(token);
    assert.equal(setup.lookups, before, 'the good one is cached');
    await refuses(setup.bearer(first), 'api_key_invalid');
    assert.equal(setup.lookups, before + 1, 'the oldest wrong one is not');
  });
});

describe('a revocation', () => {
  it('of a key refuses it immediately, and no other', async () => {
    const setup = new Setup();
    const one = setup.addKey();
    const other = setup.addKey();
    await Promise.all([setup.bearer(one.token), setup.bearer(other.token)]);
    setup.keys.delete(one.hash);
    setup.authenticator.revoke({ kind: 'credential', credentialId: one.id });
    await refuses(setup.bearer(one.token), 'api_key_invalid');
    const before = setup.lookups;
    await setup.bearer(other.token);
    assert.equal(setup.lookups, before);
  });

  it('of a membership makes all credentials of that person be looked up again', async () => {
    const setup = new Setup();
    const one = setup.addKey({ userId: 'bob' });
    const other = setup.addKey();
    await Promise.all([setup.bearer(one.token), setup.bearer(other.token)]);
    setup.keys.delete(one.hash);
    setup.authenticator.revoke({ kind: 'membership', userId: 'bob', workspaceId: 'w' });
    await refuses(setup.bearer(one.token), 'api_key_invalid');
    const before = setup.lookups;
    await setup.bearer(other.token);
    assert.equal(setup.lookups, before, 'others are left alone');
  });

  it('during a look-up makes it start again, because its result may be older', async () => {
    const setup = new Setup();
    const { token, hash, id } = setup.addKey();
    const gate = Promise.withResolvers<void>();
    setup.gate = gate.promise;
    const early = setup.bearer(token);
    setup.keys.delete(hash);
    setup.authenticator.revoke({ kind: 'credential', credentialId: id });
    const late = setup.bearer(token);
    gate.resolve();
    await refuses(early, 'api_key_invalid');
    await refuses(late, 'api_key_invalid');
    await refuses(setup.bearer(token), 'api_key_invalid');
  });

  it('of other credentials restarts no look-up', async () => {
    const setup = new Setup();
    const { token } = setup.addKey();
    const gate = Promise.withResolvers<void>();
    setup.gate = gate.promise;
    const early = setup.bearer(token);
    for (let count = 0; count < 100; count += 1)
      setup.authenticator.revoke({ kind: 'credential', credentialId: `other-${count}`, userId: 'eve' });
    gate.resolve();
    assert.equal((await early).userId, 'ann');
    assert.equal(setup.lookups, 1);
  });
});

describe('a session at the authenticator', () => {
  it('has all scopes of its person until it expires [authentication.jwt.all-scopes]', async () => {
    const setup = new Setup();
    const principal = await setup.bearer(setup.session());
    assert.equal(principal.userId, 'user of ann');
    assert.deepEqual(principal.scopes, SCOPES);
    assert.equal(principal.credential.kind, 'jwt');
    assert.equal(principal.expiresAt, START_MS / 1000 + 300);
  });

  it('is resolved to a person by claims of the right types only', async () => {
    const setup = new Setup();
    await setup.bearer(
      setup.session({ name: 'Ann', email: 'ann@example.com', email_verified: true, picture: 'https://x/y' }),
    );
    await setup.bearer(setup.session({ name: 7, email: {}, email_verified: 'yes', picture: null, sub: 'bob' }));
    assert.deepEqual(setup.people, [
      {
        issuer: issuer.issuer,
        subject: 'ann',
        name: 'Ann',
        email: 'ann@example.com',
        emailVerified: true,
        avatarUrl: 'https://x/y',
      },
      { issuer: issuer.issuer, subject: 'bob', emailVerified: false },
    ]);
  });

  it('has a verified e-mail address only with the claim true or "true" [authentication.jwt.email-verified]', async () => {
    const verifiedBy = async (claims: object, trustsEmails = false): Promise<unknown> => {
      const setup = new Setup({ trustsEmails });
      await setup.bearer(setup.session({ email: 'ann@example.com', ...claims }));
      return setup.people[0]?.emailVerified;
    };
    for (const claim of [true, 'true']) assert.equal(await verifiedBy({ email_verified: claim }), true);
    for (const claim of [
      false,
      'false',
      'TRUE',
      'True',
      ' true',
      'yes',
      '1',
      '',
      0,
      1,
      null,
      {},
      [],
      [true],
      ['true'],
    ]) {
      assert.equal(await verifiedBy({ email_verified: claim }), false, JSON.stringify(claim));
      assert.equal(await verifiedBy({ email_verified: claim }, true), false, `trusted, ${JSON.stringify(claim)}`);
    }
    assert.equal(await verifiedBy({}), undefined);
    assert.equal(await verifiedBy({}, true), true);
  });

  it('that expires within five seconds is cached until it expires', async () => {
    const setup = new Setup();
    const token = setup.session({ exp: START_MS / 1000 + 2 });
    await setup.bearer(token);
    setup.nowMs += 2_000;
    await refuses(setup.bearer(token), 'token_invalid');
  });

  it('has an id that is the same each time and does not reveal the token', async () => {
    const setup = new Setup();
    const token = setup.session();
    const { id } = (await setup.bearer(token)).credential;
    setup.nowMs += LIMITS.credentialCacheMs;
    assert.equal((await setup.bearer(token)).credential.id, id);
    assert.ok(!token.includes(id));
  });

  it('that is invalid is not looked up', async () => {
    const setup = new Setup();
    await refuses(setup.bearer(`${setup.session()}x`), 'token_invalid');
    assert.equal(setup.people.length, 0);
  });
});
