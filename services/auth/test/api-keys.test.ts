import { readApiKey } from '@wts/access';
import type { ApiKey, BodyOf, Principal, ReplyOf, Revocation } from '@wts/contracts';
import { apiKeyApi, credentialApi } from '@wts/contracts';
import { eventually, type OperationReply, type TestPerson } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { openTestService, SERVICE, type TestService } from './test-service.ts';
import { AUTH_LIMITS } from '../src/limits.ts';

describe('API keys', () => {
  let testService: TestService;
  before(async () => (testService = await openTestService()));

  const create = async (who: TestPerson | Principal, label = 'ci') => {
    const made = await testService.call(who, apiKeyApi.createApiKey, { body: { label } });
    assert.equal(made.status, 201, made.text);
    return made.body.key;
  };

  it('show their token once and authenticate their person with all scopes [api-keys.create.answer, api-keys.create.full-access, api-keys.permissions.full-access, api-keys.token.once, api-keys.list.no-token, api-keys.token.prefix]', async () => {
    const ada = await testService.person();
    const { token, ...key } = await create(ada, 'ci \u202e "quoted" 🔑');
    assert.equal(key.keyPrefix, token.slice(0, 12));
    assert.equal(key.label, 'ci \u202e "quoted" 🔑');
    const listed = await testService.call(ada, apiKeyApi.listApiKeys, {});
    assert.deepEqual(listed.body.keys, [key]);
    assert.ok(!listed.text.includes(token));
    assert.deepEqual(await testService.resolveKey(token), {
      userId: ada.userId,
      scopes: ['read', 'write', 'admin'],
      credential: { kind: 'api_key', id: key.id },
    });
  });

  it('are stored only as a hash [api-keys.token.stored-hashed, never.secret-in-clear]', async () => {
    const { id, token } = await create(await testService.person());
    const [stored] = await testService.backends.sql(
      `select *, token_hash::text as hash from auth.api_keys where id = $1`,
      [id],
    );
    assert.equal(stored?.['hash'], `\\x${readApiKey(token, 'wts_')?.hash}`);
    assert.ok(!JSON.stringify(stored).includes(token.slice(12)));
  });

  it('are created with a label and no other field [api-keys.create.label-only]', async () => {
    const ada = await testService.person();
    const bad: readonly object[] = [
      {},
      { label: '' },
      { label: ' \t' },
      { label: 'x'.repeat(101) },
      { label: 7 },
      { label: 'a', permissions: 'read-only' },
      { label: 'a', userId: randomUUID() },
    ];
    for (const body of bad) {
      const refused = await testService.call(ada, apiKeyApi.createApiKey, { body: body as { label: string } });
      assert.equal(refused.code, 'validation_failed', JSON.stringify(body));
    }
  });

  it('do not work after they are revoked, which is published before the answer [api-keys.revoke.dead]', async () => {
    const ada = await testService.person();
    const { id, token } = await create(ada);
    const published = await testService.backends.revocations();
    assert.equal((await testService.call(ada, apiKeyApi.revokeApiKey, { params: { keyId: id } })).status, 200);
    const expected: Revocation = { kind: 'credential', credentialId: id, userId: ada.userId };
    assert.deepEqual(await published.next(), expected);
    assert.equal(await testService.resolveKey(token), null);
    assert.deepEqual((await testService.call(ada, apiKeyApi.listApiKeys, {})).body.keys, []);
    assert.equal((await testService.call(ada, apiKeyApi.revokeApiKey, { params: { keyId: id } })).code, 'not_found');
  });

  it('show the credential that created them [api-keys.list.maker]', async () => {
    const ada = await testService.person();
    const first = await create(ada);
    const withFirst = (await testService.resolveKey(first.token))!;
    const second = await create(withFirst, 'by a key');
    assert.deepEqual(first.createdBy, { kind: 'session' });
    assert.deepEqual(second.createdBy, { kind: 'api_key', id: first.id, keyPrefix: first.keyPrefix });
    const body = {
      label: 'limited',
      permissions: 'read-only',
      workspaceId: (await testService.workspace()).id,
    } as const;
    const { id: workspaceId, owner } = await testService.workspace();
    const ownerKey = await create(owner);
    const limited = await testService.call(
      (await testService.resolveKey(ownerKey.token))!,
      apiKeyApi.internalCreateApiKey,
      {
        body: { ...body, workspaceId },
      },
    );
    assert.deepEqual(limited.body.key.createdBy, { kind: 'api_key', id: ownerKey.id, keyPrefix: ownerKey.keyPrefix });
    const seen = await testService.call(owner, apiKeyApi.listApiKeys, { query: { workspaceId } });
    assert.deepEqual(seen.body.keys[0]?.createdBy, { kind: 'api_key' });
    await testService.call(ada, apiKeyApi.revokeApiKey, { params: { keyId: first.id } });
    const [left] = (await testService.call(ada, apiKeyApi.listApiKeys, {})).body.keys;
    assert.deepEqual([left?.id, left?.createdBy], [second.id, second.createdBy]);
  });

  it('are revoked with the key that created them when the caller requests it, at any depth [api-keys.revoke.made]', async () => {
    const [ada, eve] = [await testService.person(), await testService.person()];
    const other = await create(ada, 'other');
    const chain = [await create(ada)];
    for (let n = 0; n < 3; n += 1) chain.push(await create((await testService.resolveKey(chain.at(-1)!.token))!));
    const [first, second] = [chain[0]!, chain[1]!];
    const revoke = async (who: TestPerson, keyId: string, includeMade?: string): Promise<unknown> => {
      const query = includeMade === undefined ? {} : { includeMade };
      const { status, code } = await testService.call(who, apiKeyApi.revokeApiKey, { params: { keyId }, query });
      return code ?? status;
    };
    assert.equal(await revoke(ada, first.id, 'yes'), 'validation_failed');
    assert.equal(await revoke(eve, first.id, 'true'), 'not_found');
    assert.equal(await revoke(ada, second.id, 'false'), 200);
    const live = async (): Promise<boolean[]> =>
      Promise.all(chain.map(async ({ token }) => (await testService.resolveKey(token)) !== null));
    assert.deepEqual(await live(), [true, false, true, true]);
    const published = await testService.backends.revocations();
    assert.equal(await revoke(ada, first.id, 'true'), 200);
    const ended = new Set(
      [await published.next(), await published.next(), await published.next()].map((one) => one.credentialId),
    );
    assert.deepEqual(ended, new Set([first, chain[2]!, chain[3]!].map(({ id }) => id)));
    assert.deepEqual(await live(), [false, false, false, false]);
    assert.notEqual(await testService.resolveKey(other.token), null);
    assert.equal(await revoke(ada, first.id, 'true'), 'not_found');
  });

  it('of another person can be neither seen nor revoked', async () => {
    const ada = await testService.person();
    const eve = await testService.person();
    const { id, token } = await create(ada);
    assert.deepEqual((await testService.call(eve, apiKeyApi.listApiKeys, {})).body.keys, []);
    assert.equal((await testService.call(eve, apiKeyApi.revokeApiKey, { params: { keyId: id } })).code, 'not_found');
    assert.equal(
      (await testService.call(eve, apiKeyApi.revokeApiKey, { params: { keyId: randomUUID() } })).code,
      'not_found',
    );
    assert.equal((await testService.resolveKey(token))?.userId, ada.userId);
  });

  it('limited to a workspace are seen and revoked only by its owners and by their person [api-keys.owner.revokes]', async () => {
    const { id: workspaceId, owner, admin, member } = await testService.workspace('admin', 'member');
    const { owner: foreign } = await testService.workspace();
    const limited = async (who: TestPerson): Promise<ApiKey & { token: string }> => {
      const body = { label: 'deploys', permissions: 'full-access', workspaceId } as const;
      return (await testService.call(who, apiKeyApi.internalCreateApiKey, { body })).body.key;
    };
    const list = (who: TestPerson): Promise<OperationReply<typeof apiKeyApi.listApiKeys>> =>
      testService.call(who, apiKeyApi.listApiKeys, { query: { workspaceId } });
    const revoke = async (who: TestPerson, keyId: string): Promise<unknown> => {
      const { status, code } = await testService.call(who, apiKeyApi.revokeApiKey, { params: { keyId } });
      return code ?? status;
    };
    const wide = await create(member);
    const { token, ...key } = await limited(member);
    const { id: own } = await limited(owner);

    const seen = await list(owner);
    assert.deepEqual(new Set(seen.body.keys.map(({ id }) => id)), new Set([key.id, own]));
    assert.deepEqual(
      seen.body.keys.find(({ id }) => id === key.id),
      key,
    );
    assert.ok(!seen.text.includes(token) && !seen.text.includes(wide.id));
    for (const who of [admin, member]) assert.equal((await list(who)).code, 'forbidden');
    assert.equal((await list(foreign)).code, 'not_found');

    for (const who of [admin, foreign]) assert.equal(await revoke(who, key.id), 'not_found');
    assert.equal(await revoke(owner, wide.id), 'not_found', 'the key reaches other workspaces too');
    assert.equal(await revoke(member, own), 'not_found');
    assert.notEqual(await testService.resolveKey(token), null);

    const published = await testService.backends.revocations();
    assert.equal(await revoke(owner, key.id), 200);
    const expected: Revocation = { kind: 'credential', credentialId: key.id, userId: member.userId };
    assert.deepEqual(await published.next(), expected);
    assert.equal(await testService.resolveKey(token), null);
    assert.deepEqual(
      (await list(owner)).body.keys.map(({ id }) => id),
      [own],
    );
    // After its person left, the key works nowhere, and the owner can still revoke it.
    const { id: left } = await limited(member);
    await testService.removeMember(workspaceId, member);
    assert.equal(await revoke(owner, left), 200);
    assert.equal((await testService.resolveKey(wide.token))?.userId, member.userId);
  });

  it('cannot be managed without the scope admin, nor with a credential for one workspace', async () => {
    const ada = await testService.person();
    const { id } = await create(ada);
    const codesOf = async (principal: Principal): Promise<unknown[]> => [
      (await testService.call(principal, apiKeyApi.listApiKeys, {})).code,
      (await testService.call(principal, apiKeyApi.createApiKey, { body: { label: 'a' } })).code,
      (await testService.call(principal, apiKeyApi.revokeApiKey, { params: { keyId: id } })).code,
    ];
    const writer: Principal = { ...ada.principal, scopes: ['read', 'write'] };
    assert.deepEqual(await codesOf(writer), Array(3).fill('insufficient_scope'));
    assert.deepEqual(await codesOf({ ...ada.principal, workspaceId: randomUUID() }), Array(3).fill('forbidden'));
    const inner = await testService.call(writer, apiKeyApi.internalCreateApiKey, {
      body: { label: 'a', permissions: 'full-access' },
    });
    assert.equal(inner.code, 'insufficient_scope');
  });

  it('can be read-only, limited to one workspace, and expire [api-keys.permissions.read-only]', async () => {
    const { id: workspaceId, owner } = await testService.workspace();
    const expiresAt = new Date(Math.ceil(Date.now() / 1000) * 1000 + 60_000).toISOString();
    const body = { label: 'narrow', permissions: 'read-only', workspaceId, expiresAt } as const;
    const { token, ...key } = (await testService.call(owner, apiKeyApi.internalCreateApiKey, { body })).body.key;
    assert.deepEqual(await testService.resolveKey(token), {
      userId: owner.userId,
      scopes: ['read'],
      credential: { kind: 'api_key', id: key.id },
      workspaceId,
      expiresAt: Date.parse(expiresAt) / 1000,
    });
    const set = `update auth.api_keys set expires_at = now() where id = $1`;
    await testService.backends.sql(set, [key.id]);
    assert.equal(await testService.resolveKey(token), null);
    for (const [change, code] of [
      [{ workspaceId: randomUUID() }, 'not_found'],
      [{ expiresAt: new Date(0).toISOString() }, 'validation_failed'],
      [{ expiresAt: '2026-02-30T00:00:00Z' }, 'validation_failed'],
      [{ permissions: 'owner' }, 'validation_failed'],
    ] as const) {
      const refused = await testService.call(owner, apiKeyApi.internalCreateApiKey, {
        body: { ...body, ...change } as never,
      });
      assert.equal(refused.code, code, JSON.stringify(change));
    }
  });

  it('do not outlive the key that created them [api-keys.expiry.no-timer]', async () => {
    const ada = await testService.person();
    const endsAt = Math.floor(Date.now() / 1000) + 3600;
    const parent: Principal = {
      ...ada.principal,
      credential: { kind: 'api_key', id: (await create(ada)).id },
      expiresAt: endsAt,
    };
    assert.equal(Date.parse((await create(parent)).expiresAt ?? ''), endsAt * 1000);
    // A session expires too, but a key created in it does not.
    assert.equal((await create({ ...ada.principal, expiresAt: endsAt })).expiresAt, null);
  });

  it('that were revoked after a given time are all listed to services, in pages [api-keys.revoke.everywhere]', async () => {
    const ada = await testService.person();
    type ListBody = BodyOf<typeof credentialApi.internalListRevokedCredentials>;
    const list = async (body: ListBody): Promise<ReplyOf<typeof credentialApi.internalListRevokedCredentials>> => {
      const {
        status,
        body: reply,
        text,
      } = await testService.call(SERVICE, credentialApi.internalListRevokedCredentials, { body });
      assert.equal(status, 200, text);
      return reply;
    };
    const { at: since, credentials: none } = await list({});
    assert.deepEqual(none, []);
    const made = [await create(ada), await create(ada), await create(ada)];
    for (const { id } of made) await testService.call(ada, apiKeyApi.revokeApiKey, { params: { keyId: id } });
    const { credentials } = await list({ since });
    assert.deepEqual(
      credentials.map(({ id, userId }) => ({ id, userId })),
      made.map(({ id }) => ({ id, userId: ada.userId })),
    );
    // Several keys revoked at the same time: the next page continues after the last key of the page before.
    await testService.backends.sql(`update auth.api_keys set revoked_at = $1 where user_id = $2`, [since, ada.userId]);
    const [first, ...rest] = (await list({ since })).credentials;
    assert.equal(rest.length, 2);
    assert.deepEqual((await list({ since: first?.revokedAt ?? '', afterId: first?.id ?? '' })).credentials, rest);
    const odd = await testService.call(SERVICE, credentialApi.internalListRevokedCredentials, {
      body: { since: 'yesterday' },
    });
    assert.equal(odd.code, 'validation_failed');
    // A person may not call this, also when a service that may call it forwards the principal.
    const outside = await testService.call(ada, credentialApi.internalListRevokedCredentials, { body: { since } });
    assert.equal(outside.code, 'token_invalid');
  });

  it('are limited in number per person', async () => {
    const ada = await testService.person();
    await testService.backends.sql(
      `insert into auth.api_keys (id, user_id, label, key_prefix, token_hash, permissions)
       select gen_random_uuid(), $1, 'many', 'wts_', sha256(gen_random_uuid()::text::bytea), 'read-only'
       from generate_series(1, $2::int)`,
      [ada.userId, AUTH_LIMITS.apiKeysPerPersonMax],
    );
    const refused = await testService.call(ada, apiKeyApi.createApiKey, { body: { label: 'one too many' } });
    assert.equal(refused.code, 'conflict');
    const expire = `update auth.api_keys set expires_at = now() where id in (
      select id from auth.api_keys where user_id = $1 order by id limit 3)`;
    await testService.backends.sql(expire, [ada.userId]);
    await create(ada);
    // The others that had expired left room too, and nothing else did.
    for (const _ of [2, 3]) await create(ada);
    const { keys } = (await testService.call(ada, apiKeyApi.listApiKeys, {})).body;
    assert.equal(keys.length, AUTH_LIMITS.apiKeysPerPersonMax);
    const another = await testService.call(ada, apiKeyApi.createApiKey, { body: { label: 'one too many' } });
    assert.equal(another.code, 'conflict');
  });

  it('are created as often in a minute as the operator allows, by whichever replica [api-keys.create.rate]', async () => {
    const ada = await testService.person();
    const strict = await testService.replica({ API_KEYS_PER_MINUTE: '1' });
    try {
      await create(ada);
      const refused = await strict.call(ada, apiKeyApi.createApiKey, { body: { label: 'one too many' } });
      assert.equal(refused.code, 'rate_limited');
      await create(ada);
    } finally {
      await strict.service.close();
    }
  });

  it('show when they were last used', async () => {
    const ada = await testService.person();
    const { token } = await create(ada);
    await testService.resolveKey(token);
    const lastUsedAt = await eventually(
      async () => (await testService.call(ada, apiKeyApi.listApiKeys, {})).body.keys[0]?.lastUsedAt,
    );
    assert.ok(Math.abs(Date.now() - Date.parse(lastUsedAt)) < 60_000);
    const ready = await fetch(`${testService.service.url}/ready`);
    const { background } = (await ready.json()) as { readonly background: Readonly<Record<string, { runs: number }>> };
    assert.ok((background['key-use']?.runs ?? 0) > 0, 'operators see when it fails');
  });
});
