import { migrate } from '@wts/service-kit/migrate';
import { createLogger } from '@wts/service-kit/observe';
import { openPostgres, rows } from '@wts/service-kit/postgres';
import { migrationsBefore, testDatabase, type TestDatabase } from '@wts/testkit';
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { refreshHashesOf, successorOf } from '../src/domain/refresh-token.ts';
import * as keepOneRefreshToken from '../src/migrations/0010-keep-one-refresh-token.ts';
import { apiKeyStore } from '../src/store/api-keys.ts';
import { grantStore } from '../src/store/grants.ts';
import { identityStore } from '../src/store/identities.ts';

const ROOT = join(import.meta.dirname, '../../..');
const log = createLogger({ name: 'test', level: 'silent' });

describe('the migrations', () => {
  const folderOf = (schema: 'auth' | 'workspace'): string => join(ROOT, `services/${schema}/src/migrations`);
  /** With only the rights of the service. */
  const run = (
    database: TestDatabase,
    schema: 'auth' | 'workspace' = 'auth',
    direction: 'up' | 'down' = 'up',
    directory: string = folderOf(schema),
  ): Promise<string[]> => migrate({ url: database.urlOf(`wts_${schema}`), directory, schema, log, direction });
  const connected = async (url: string, stack: AsyncDisposableStack): Promise<Client> => {
    const client = stack.adopt(new Client({ connectionString: url }), (open) => open.end());
    await client.connect();
    return client;
  };

  it('run up, down and up again over data, with only the rights of the service', async () => {
    await using database = await testDatabase('migrations');
    await using stack = new AsyncDisposableStack();
    const made = await run(database);
    const client = await connected(database.urlOf('wts_auth'), stack);
    await client.query(`insert into auth.identities (identity_hash, issuer, subject, user_id)
      values (sha256('a'), 'a', 'b', gen_random_uuid())`);
    await client.query(`insert into auth.api_keys (id, user_id, label, key_prefix, token_hash, permissions)
      values (gen_random_uuid(), gen_random_uuid(), 'a', 'wts_', sha256('a'), 'read-only')`);
    await client.query(`insert into auth.idempotency_keys (key_hash, owner, fingerprint, expires_at)
      values (sha256('a'), 'a', sha256('b'), now())`);
    await client.query(`insert into auth.clients (id, redirect_uris, auth_method, grant_types)
      values ('a', '{}', 'none', '{}')`);
    await client.query(`insert into auth.grants (id, user_id, client_id, scopes, resources, signed_in_at, expires_at,
        refresh_family, refresh_hash, refreshed_at)
      values ('018f2a3b-7d2e-7f11-8b11-4a6c9f8e3d21', gen_random_uuid(), 'a', '{}', '{}', now(), now(), sha256('a'),
        sha256('b'), now())`);
    await client.query(`insert into auth.pending_requests (id_hash, kind, browser_hash, content, expires_at, client_id)
      values (sha256('a'), 'authorization', sha256('b'), '{}', now(), 'a')`);
    await client.query(`insert into auth.codes (hash, grant_id, expires_at, redirect_uri, challenge)
      values (sha256('a'), '018f2a3b-7d2e-7f11-8b11-4a6c9f8e3d21', now(), 'https://a.example', 'b')`);
    await client.query(`insert into auth.signing_keys (id, public_jwk, private_key, sealed_with, signs_from)
      values ('a', '{}', 'a', 'b', now())`);
    await client.query(`insert into auth.pending_requests (id_hash, kind, browser_hash, content, expires_at, network)
      values (sha256('c'), 'connect', sha256('b'), '{}', now(), 'a')`);
    await client.query(`insert into auth.connect_codes (hash, user_id, session_id, challenge, label, permissions, expires_at)
      values (sha256('a'), gen_random_uuid(), gen_random_uuid(), 'b', 'wts on host', 'read-only', now())`);
    await client.query(`insert into auth.mail_links (id, hash, kind, expires_at)
      values (gen_random_uuid(), sha256('a'), 'registration', now())`);
    await client.query(
      `insert into auth.sessions (id, secret_hash, user_id, network) values (gen_random_uuid(), sha256('a'), gen_random_uuid(), 'a')`,
    );
    await client.query(`insert into auth.events (id, kind, actor) values (gen_random_uuid(), 'sign-in', 'person')`);
    assert.deepEqual(await run(database, 'auth', 'down'), made.toReversed());
    const { rows } = await client.query(`select tablename from pg_tables where schemaname = 'auth'
      and tablename not like 'migrations%'`);
    assert.deepEqual(rows, []);
    assert.deepEqual(await run(database), made);
    assert.deepEqual(await run(database), []);
  });

  it('keep the refresh tokens of an earlier version in use', async () => {
    await using database = await testDatabase('tokens', { migrated: true });
    await using stack = new AsyncDisposableStack();
    const { knex } = openPostgres({ url: database.urlOf('wts_auth'), poolMax: 1, applicationName: 'test', log, stack });
    await keepOneRefreshToken.down(knex);
    const [token, used] = [1, 2].map(() => `wtsr_${randomBytes(32).toString('hex')}`) as [string, string];
    await knex.raw(
      `with granted as (insert into auth.grants (id, user_id, client_id, scopes, resources, signed_in_at, expires_at)
        values (gen_random_uuid(), gen_random_uuid(), 'a', '{}', '{}', now(), now() + interval '1 day') returning id)
      insert into auth.refresh_tokens (hash, grant_id, expires_at, used_at)
      select hash, id, now() + interval '1 day', used_at from granted,
        (values (sha256(:token), cast(null as timestamptz)), (sha256(:used), now())) as made (hash, used_at)`,
      { token: Buffer.from(token), used: Buffer.from(used) },
    );
    await knex.transaction(keepOneRefreshToken.up);
    const grants = grantStore(knex);
    const nonce = randomBytes(32);
    const next = successorOf(token, nonce);
    const { hash: nextHash } = refreshHashesOf(next);
    assert.ok(await grants.rotate({ ...refreshHashesOf(token), nextHash, nonce, graceMs: 0 }));
    assert.ok(await grants.findByRefreshToken(refreshHashesOf(next)));
    assert.equal(await grants.findByRefreshToken(refreshHashesOf(used)), null);
    assert.equal((await grants.revokeOfUsedToken(refreshHashesOf(token))).length, 1);
    await keepOneRefreshToken.down(knex);
    const kept = await rows(
      knex,
      `select t.hash, t.used_at, t.expires_at = g.expires_at as "isWhole"
      from auth.refresh_tokens t join auth.grants g on g.id = t.grant_id`,
    );
    assert.deepEqual(
      kept,
      [{ hash: nextHash, used_at: null, isWhole: true }],
      'the current token, also on the way back',
    );
  });

  it('take over every identity and key of a database in which the workspace service kept them', async () => {
    await using database = await testDatabase('takeover', { authDatabase: false });
    await using stack = new AsyncDisposableStack();
    const admin = await connected(database.url, stack);
    const roles = await readFile(join(ROOT, 'infra/postgres/roles.sql'), 'utf8');
    await run(database, 'workspace', 'up', migrationsBefore(folderOf('workspace'), '0008'));
    await admin.query(`insert into workspace.identities
        (identity_hash, issuer, subject, user_id, email, email_verified, created_at, person_created_at)
      select sha256(('22:https://issuer.example' || n)::bytea), 'https://issuer.example', n::text, gen_random_uuid(),
        case when n % 2 = 0 then n || '@example.com' end, n % 2 = 0, now() - n * interval '1 day',
        case when n % 3 = 0 then now() end
      from generate_series(1, 50) n`);
    await admin.query(`insert into workspace.api_keys (id, user_id, label, key_prefix, token_hash, permissions, workspace_id,
        expires_at, created_at, last_used_at, revoked_at, made_by)
      select gen_random_uuid(), gen_random_uuid(), 'key ' || n, 'wts_' || n, sha256(n::text::bytea),
        case when n % 2 = 0 then 'read-only' else 'full-access' end, case when n % 3 = 0 then gen_random_uuid() end,
        case when n % 5 = 0 then now() + n * interval '1 day' end, now() - n * interval '1 hour',
        case when n % 7 = 0 then now() end, case when n % 4 = 0 then now() end, case when n % 2 = 0 then 'session' end
      from generate_series(1, 50) n`);
    // A key and the keys made with it, in an order in which a copy row by row would miss its maker.
    await admin.query(`update workspace.api_keys k set made_by = 'api_key', made_by_key = maker.id
      from workspace.api_keys maker where k.label = 'key 1' and maker.label = 'key 50'`);
    const contentOf = async (schema: string): Promise<unknown[]> => {
      const identities = await admin.query(`select * from ${schema}.identities order by identity_hash`);
      const keys = await admin.query(`select * from ${schema}.api_keys order by id`);
      return [identities.rows, keys.rows];
    };
    const before = await contentOf('workspace');

    await assert.rejects(run(database), /run infra\/postgres\/roles.sql again/);
    await admin.query(roles);
    await run(database);
    assert.deepEqual(await contentOf('auth'), before);
    await run(database, 'workspace');
    assert.deepEqual(await contentOf('auth'), before);
    const left = await admin.query(`select tablename from pg_tables where schemaname = 'workspace'
      and tablename in ('identities', 'api_keys')`);
    assert.deepEqual(left.rows, []);

    // They still sign in and authenticate.
    const { knex } = openPostgres({ url: database.urlOf('wts_auth'), poolMax: 1, applicationName: 'test', log, stack });
    const [person] = (await admin.query<{ user_id: string }>(`select user_id from auth.identities where subject = '6'`))
      .rows;
    const signedIn = await identityStore(knex).find({ issuer: 'https://issuer.example', subject: '6' });
    assert.deepEqual(signedIn, {
      userId: (person as { user_id: string }).user_id,
      email: '6@example.com',
      emailVerified: true,
      hasPerson: true,
      isEnabled: true,
    });
    const hashOf = (n: number): string => createHash('sha256').update(String(n)).digest('hex');
    assert.equal((await apiKeyStore(knex).findLive(hashOf(2)))?.permissions, 'read-only');
    assert.equal(await apiKeyStore(knex).findLive(hashOf(4)), null, 'this one is revoked');

    // The next run of an administrator takes the right to read schema workspace away again.
    await admin.query(roles);
    const { rows } = await admin.query(`select has_schema_privilege('wts_auth', 'workspace', 'usage') as "mayUse"`);
    assert.deepEqual(rows, [{ mayUse: false }]);
  });
});
