import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, randomUUID, sign as signBytes, type KeyObject } from 'node:crypto';
import { Fault, LIMITS, type GrantScope, type Principal, type ResolvedGrant } from '@wts/contracts';
import { accessTokenIssuer } from './access-token.ts';
import { createAuthenticator, type Authenticator } from './authenticator.ts';
import type { ProtectedResource } from './challenge.ts';
import { parseIssuers } from './issuers.ts';

const ISSUER = 'https://auth.test';
const API = 'https://api.test';
const MCP: ProtectedResource = {
  realm: 'mcp',
  metadataUrl: `${ISSUER}/.well-known/oauth-protected-resource/mcp`,
  scopes: ['read', 'write'],
  audience: `${ISSUER}/mcp`,
};
const START_MS = 1_800_000_000_000;
const IDP = 'https://idp.test';
const [ours, theirs] = [
  generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  generateKeyPairSync('ec', { namedCurve: 'P-256' }),
];

type Json = Record<string, unknown>;
type Signer = (input: string) => Buffer;

const withKey =
  (key: KeyObject): Signer =>
  (input) =>
    signBytes('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
const withSecret =
  (secret: string): Signer =>
  (input) =>
    createHmac('sha256', secret).update(input).digest();
const base64url = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const jwkOf = (key: KeyObject, kid: string): Json => ({
  ...key.export({ format: 'jwk' }),
  kid,
  alg: 'ES256',
  use: 'sig',
});

/** An authenticator with one grant, and an identity provider whose keys have the same names as ours. */
class Setup {
  nowMs = START_MS;
  readonly grantId = randomUUID();
  readonly userId = randomUUID();
  grant: ResolvedGrant | null = { userId: this.userId, clientId: 'client', scopes: ['read', 'write'] };
  keys: Json[] = [jwkOf(ours.publicKey, 'one')];
  fetches = 0;
  lookUps: string[] = [];
  people = 0;
  readonly authenticator: Authenticator;

  constructor() {
    this.authenticator = createAuthenticator({
      issuers: parseIssuers(
        JSON.stringify([{ issuer: IDP, audiences: [API], algorithms: ['ES256'], jwksUri: `${IDP}/jwks` }]),
      ),
      accessTokens: {
        issuer: accessTokenIssuer({
          authUrl: `${ISSUER}/`,
          baseUrl: `${API}/`,
          fetchKeys: async () => {
            this.fetches += 1;
            return Buffer.from(JSON.stringify({ keys: this.keys }));
          },
        }),
        resolveGrant: async (grantId) => {
          this.lookUps.push(grantId);
          return grantId === this.grantId ? this.grant : null;
        },
      },
      apiKeyPrefix: 'wts_',
      fetchJwks: async () => Buffer.from(JSON.stringify({ keys: [jwkOf(theirs.publicKey, 'one')] })),
      clock: () => this.nowMs,
      resolveApiKey: async () => null,
      resolvePerson: async () => {
        this.people += 1;
        return 'a person of the identity provider';
      },
    });
  }

  get claims(): Json {
    const now = Math.floor(this.nowMs / 1000);
    return {
      iss: ISSUER,
      aud: [API, `${ISSUER}/mcp`],
      sub: this.userId,
      client_id: 'client',
      scope: 'read write',
      gid: this.grantId,
      jti: randomUUID(),
      iat: now,
      exp: now + 1800,
    };
  }

  token(claims: Json = {}, header: Json = {}, signer: Signer = withKey(ours.privateKey)): string {
    const input = `${base64url({ alg: 'ES256', typ: 'at+jwt', kid: 'one', ...header })}.${base64url({ ...this.claims, ...claims })}`;
    return `${input}.${signer(input).toString('base64url')}`;
  }

  bearer(token: string, resource?: ProtectedResource): Promise<Principal> {
    return this.authenticator.authenticate([`Bearer ${token}`], '', resource);
  }
}

async function refusalOf(answer: Promise<Principal>): Promise<Fault> {
  try {
    await answer;
  } catch (fault) {
    if (fault instanceof Fault) return fault;
    throw fault;
  }
  throw new Error('It was not refused.');
}

describe('an access token', () => {
  it('has the person and the scopes of its grant, until it expires [authentication.oauth.accepted]', async () => {
    const setup = new Setup();
    const principal = await setup.bearer(setup.token());
    assert.deepEqual(principal, {
      userId: setup.userId,
      scopes: ['read', 'write'],
      credential: { kind: 'oauth', id: setup.grantId },
      expiresAt: START_MS / 1000 + 1800,
    });
    assert.equal(setup.people, 0);
  });

  it('allows no more than the token and the grant allow, and never admin [authentication.scopes.admin-api-keys-only]', async () => {
    const setup = new Setup();
    for (const [scope, granted, expected] of [
      ['read', ['read', 'write'], ['read']],
      ['write', ['write'], ['read', 'write']],
      ['read write', ['read'], ['read']],
      ['write', ['read'], ['read']],
      ['read', ['write'], ['read']],
      ['read write admin', ['read', 'write', 'admin'], ['read', 'write']],
      ['admin', ['admin'], []],
      ['', ['write'], []],
      ['READ writes', ['write'], []],
      ['read', [], []],
    ] as const) {
      setup.grant = { userId: setup.userId, clientId: 'client', scopes: granted as readonly GrantScope[] };
      const { scopes } = await setup.bearer(setup.token({ scope }));
      assert.deepEqual(scopes, expected, `${scope} of ${granted.join(' ')}`);
    }
  });

  it('is for one workspace when its grant is [authentication.consent.choices]', async () => {
    const setup = new Setup();
    const workspaceId = randomUUID();
    setup.grant = { userId: setup.userId, clientId: 'client', scopes: ['read'], workspaceId };
    assert.equal((await setup.bearer(setup.token())).workspaceId, workspaceId);
    setup.grant = { ...setup.grant, workspaceId: null };
    assert.ok(!('workspaceId' in (await setup.bearer(setup.token({ jti: 'other' })))));
  });

  it('is looked up once in five seconds, and not at all after it expired', async () => {
    const setup = new Setup();
    const token = setup.token({ exp: START_MS / 1000 + 8 });
    await Promise.all([setup.bearer(token), setup.bearer(token, MCP)]);
    setup.nowMs += LIMITS.credentialCacheMs - 1;
    await setup.bearer(token);
    assert.equal(setup.lookUps.length, 1);
    setup.nowMs += 1;
    await setup.bearer(token);
    assert.equal(setup.lookUps.length, 2);
    setup.nowMs += 3_000;
    assert.equal((await refusalOf(setup.bearer(token))).code, 'token_invalid');
    assert.equal(setup.lookUps.length, 2);
    assert.equal(setup.fetches, 1);
  });

  it('is refused from the message that its grant was revoked, with all others of the grant [authentication.oauth.revoked]', async () => {
    const setup = new Setup();
    const tokens = [setup.token(), setup.token({ scope: 'read' })];
    for (const token of tokens) await setup.bearer(token);
    setup.grant = null;
    setup.authenticator.revoke({ kind: 'credential', credentialId: setup.grantId, userId: setup.userId });
    for (const token of tokens) assert.equal((await refusalOf(setup.bearer(token))).code, 'token_invalid');
  });

  it('is refused from one message that all grants of its person were revoked, which is about no other credential [authentication.oauth.revoked]', async () => {
    const setup = new Setup();
    const token = setup.token();
    await setup.bearer(token);
    setup.grant = null;
    const { userId } = setup;
    setup.authenticator.revoke({ kind: 'credential', userId, credentialKind: 'jwt' });
    setup.authenticator.revoke({ kind: 'credential', userId: randomUUID(), credentialKind: 'oauth' });
    assert.equal((await setup.bearer(token)).userId, userId);
    setup.authenticator.revoke({ kind: 'credential', userId, credentialKind: 'oauth' });
    assert.equal((await refusalOf(setup.bearer(token))).code, 'token_invalid');
  });

  it('is for the resources that it names, and for no other [authentication.mcp.audience]', async () => {
    const setup = new Setup();
    const both = setup.token({ aud: [API, `${ISSUER}/mcp`] });
    assert.equal((await setup.bearer(both)).userId, setup.userId);
    assert.equal((await setup.bearer(both, MCP)).userId, setup.userId);
    for (const aud of [[`${ISSUER}/mcp`], `${ISSUER}/mcp`]) {
      const token = setup.token({ aud });
      assert.equal((await setup.bearer(token, MCP)).userId, setup.userId);
      const fault = await refusalOf(setup.bearer(token));
      assert.equal(fault.code, 'token_invalid', JSON.stringify(aud));
      assert.match(fault.headers['WWW-Authenticate'] ?? '', /^Bearer realm="api", error="invalid_token"/);
      assert.equal((await refusalOf(setup.authenticator.authenticateToken(token))).code, 'token_invalid', 'a socket');
    }
    for (const aud of [[API], API, [API, `${ISSUER}/mcp/`], [API, `${ISSUER}/MCP`], [API, [`${ISSUER}/mcp`]]]) {
      const token = setup.token({ aud });
      const fault = await refusalOf(setup.bearer(token, MCP));
      assert.equal(fault.code, 'token_invalid', JSON.stringify(aud));
      assert.match(fault.headers['WWW-Authenticate'] ?? '', /^Bearer realm="mcp", error="invalid_token"/);
      assert.equal((await setup.bearer(token)).userId, setup.userId);
    }
  });

  const refused: Readonly<Record<string, (setup: Setup) => string>> = {
    'of an unknown grant': (setup) => setup.token({ gid: randomUUID() }),
    'of a revoked grant': (setup) => {
      setup.grant = null;
      return setup.token();
    },
    'of the grant of another person': (setup) => setup.token({ sub: randomUUID() }),
    'of the grant of another client': (setup) => setup.token({ client_id: 'other' }),
    'without a client': (setup) => setup.token({ client_id: undefined }),
    'without a grant': (setup) => setup.token({ gid: undefined }),
    'with a grant that is no UUID': (setup) => setup.token({ gid: `${setup.grantId}' OR 1=1` }),
    'with a list of grants': (setup) => setup.token({ gid: [setup.grantId] }),
    'without a scope': (setup) => setup.token({ scope: undefined }),
    'with a list of scopes': (setup) => setup.token({ scope: ['read'] }),
    'without a subject': (setup) => setup.token({ sub: undefined }),
    'for another service': (setup) => setup.token({ aud: ['https://other.test'] }),
    'without an audience': (setup) => setup.token({ aud: undefined }),
    'that expired': (setup) => setup.token({ exp: START_MS / 1000 }),
    'without an end': (setup) => setup.token({ exp: undefined }),
    'of the type JWT': (setup) => setup.token({}, { typ: 'JWT' }),
    'without a type': (setup) => setup.token({}, { typ: undefined }),
    'of the type of a refresh token': (setup) => setup.token({}, { typ: 'rt+jwt' }),
    'without a key': (setup) => setup.token({}, { kid: undefined }),
    'of an unknown key': (setup) => setup.token({}, { kid: 'two' }),
    'of the algorithm none': (setup) => setup.token({}, { alg: 'none' }, () => Buffer.alloc(0)),
    'without a signature': (setup) => setup.token({}, {}, () => Buffer.alloc(0)),
    'signed with our public key as a secret, in PEM': (setup) =>
      setup.token({}, { alg: 'HS256' }, withSecret(ours.publicKey.export({ type: 'spki', format: 'pem' }))),
    'of our issuer, signed by the identity provider': (setup) => setup.token({}, {}, withKey(theirs.privateKey)),
    'of our issuer as a session, signed by the identity provider': (setup) =>
      setup.token({}, { typ: 'JWT' }, withKey(theirs.privateKey)),
    'of the identity provider, signed with our key': (setup) => setup.token({ iss: IDP }, { typ: 'JWT' }),
    'of the identity provider, with the type of ours': (setup) =>
      setup.token({ iss: IDP }, {}, withKey(theirs.privateKey)),
    'of our issuer with a slash at its end': (setup) => setup.token({ iss: `${ISSUER}/` }),
    'of our issuer in another case': (setup) => setup.token({ iss: ISSUER.toUpperCase() }),
  };

  describe('is refused with 401 [authentication.oauth.families, authentication.jwt.strict]', () => {
    for (const [what, make] of Object.entries(refused)) {
      it(what, async () => {
        const setup = new Setup();
        const token = make(setup);
        for (const resource of [undefined, MCP])
          assert.equal((await refusalOf(setup.bearer(token, resource))).code, 'token_invalid');
        assert.equal(setup.people, 0);
      });
    }
  });

  it('cannot have the issuer of an identity provider', () => {
    const { issuer } = accessTokenIssuer({ authUrl: IDP, baseUrl: API, fetchKeys: async () => Buffer.alloc(0) });
    assert.throws(
      () =>
        createAuthenticator({
          issuers: parseIssuers(JSON.stringify([{ issuer, audiences: ['a'], algorithms: ['ES256'], jwksUri: IDP }])),
          accessTokens: {
            issuer: accessTokenIssuer({ authUrl: IDP, baseUrl: API, fetchKeys: async () => Buffer.alloc(0) }),
            resolveGrant: async () => null,
          },
          apiKeyPrefix: 'wts_',
          resolveApiKey: async () => null,
          resolvePerson: async () => '',
        }),
      /JWT_ISSUERS must not name AUTH_URL/,
    );
  });
});

describe('the challenge of the agent endpoint', () => {
  const challenge = async (...headers: string[]): Promise<string | undefined> =>
    (await refusalOf(new Setup().authenticator.authenticate(headers, '', MCP))).headers['WWW-Authenticate'];

  it('names its metadata and scopes, with an error only for a credential that was sent [authentication.mcp.challenge]', async () => {
    const metadata = `resource_metadata="${ISSUER}/.well-known/oauth-protected-resource/mcp"`;
    assert.equal(await challenge(), `Bearer realm="mcp", ${metadata}, scope="read write"`);
    for (const wrong of ['Bearer x', 'Bearer wts_x']) {
      assert.equal(
        await challenge(wrong),
        `Bearer realm="mcp", error="invalid_token", ${metadata}, scope="read write"`,
      );
    }
    assert.equal(
      await challenge('Basic x'),
      `Bearer realm="mcp", error="invalid_request", ${metadata}, scope="read write"`,
    );
  });
});
