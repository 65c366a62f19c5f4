import { apiKeyApi } from '@wts/contracts';
import { openPostgres } from '@wts/service-kit/postgres';
import { createLogger } from '@wts/service-kit/observe';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { NO_VISITOR } from '../src/domain/security-event.ts';
import { openSecurityRecord } from '../src/record/security-record.ts';
import { eventStore } from '../src/store/events.ts';
import { AUTH_LIMITS } from '../src/limits.ts';
import { openTestPages, type TestPages } from './people.ts';
import { openTestRecord } from './store.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

interface StoredEvent {
  readonly kind: string;
  readonly network: string | null;
  readonly browser: string | null;
  readonly actor: string;
  readonly actor_id: string | null;
  readonly subject_id: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

describe('the security record', () => {
  const stack = new AsyncDisposableStack();
  let pages: TestPages;
  let knex: Knex;
  before(async () => {
    pages = await openTestPages();
    const log = createLogger({ name: 'test', level: 'warn' });
    const url = pages.testService.backends.databaseUrl;
    ({ knex } = openPostgres({ url, poolMax: 2, applicationName: 'test', log, stack }));
  });
  after(async () => {
    await stack.disposeAsync();
    await pages.testService.service.close();
  });

  const sql = async <T>(text: string, values: readonly unknown[] = []): Promise<T[]> =>
    (await pages.testService.backends.sql(text, values)) as T[];
  const eventsOf = (userId: string): Promise<StoredEvent[]> =>
    sql<StoredEvent>('select * from auth.events where user_id = $1 order by at, id', [userId]);
  const kindsOf = async (userId: string): Promise<string[]> => (await eventsOf(userId)).map(({ kind }) => kind);

  it('has each act of a person in order, with the network, the browser and the request [authentication.record.acts]', async () => {
    const account = await pages.account();
    const browser = pages.browser('192.0.2.7', { 'user-agent': FIREFOX });
    const signIn = (password: string) => browser.submit('/sign-in', { email: account.email, password });
    assert.equal((await signIn(account.password)).status, 303);
    assert.equal((await signIn('a wrong password')).status, 422);
    await browser.submit('/account/keys', { label: 'ci', access: 'read-only' }, '/account/keys');
    const userId = await pages.testService.userOf(account);
    const [key] = await sql<{ id: string }>('select id from auth.api_keys where user_id = $1', [userId]);
    await browser.submit(`/account/keys/${key?.id}/revoke`, {}, `/account/keys/${key?.id}/revoke`);
    const change = { current: account.password, password: 'another horse battery' };
    await browser.submit('/account/security', change, '/account/password');
    await browser.submit('/account', {}, '/sign-out');
    const events = await eventsOf(userId);
    assert.deepEqual(
      events.map(({ kind, details }) => [kind, details]),
      [
        ['sign-in', { way: 'with a password' }],
        ['sign-in-failed', {}],
        ['key-created', { label: 'ci', prefix: events[2]?.details['prefix'], access: 'read-only' }],
        ['key-revoked', { label: 'ci', prefix: events[2]?.details['prefix'] }],
        ['password-changed', {}],
        ['sign-out', {}],
      ],
    );
    for (const { network, browser: words, actor } of events)
      assert.deepEqual([network, words, actor], ['192.0.2.7', 'Firefox on Linux', 'person']);
    assert.equal(events[2]?.subject_id, key?.id);
    assert.equal(events[1]?.actor_id, null, 'nothing proved who it was');
  });

  it('names the owner who revoked a key of a member [authentication.record.acts]', async () => {
    const { testService } = pages;
    const { id, owner, member } = await testService.workspace('member');
    const body = { label: 'ci', permissions: 'read-only', workspaceId: id } as const;
    const { key } = (await testService.call(member, apiKeyApi.internalCreateApiKey, { body })).body;
    await testService.call(owner, apiKeyApi.revokeApiKey, { params: { keyId: key.id } });
    const [, revoked] = await eventsOf(member.userId);
    assert.deepEqual([revoked?.kind, revoked?.actor_id], ['key-revoked', owner.userId]);
  });

  it('has an act or does not, as the act was done or not [authentication.record.acts]', async () => {
    const userId = randomUUID();
    const event = { kind: 'sign-out', userId, visitor: NO_VISITOR, details: {} } as const;
    const failed = openTestRecord(knex).act(async ({ record }) => {
      await record(event);
      throw new Error('the act failed');
    });
    await assert.rejects(failed, /the act failed/);
    assert.deepEqual(await kindsOf(userId), []);
  });

  it('is only added to: the service can neither change nor delete what is young [authentication.record.kept]', async () => {
    const userId = randomUUID();
    await openTestRecord(knex).add({ kind: 'sign-out', userId, visitor: NO_VISITOR, details: {} });
    for (const change of [`update auth.events set kind = 'x'`, 'delete from auth.events', 'truncate auth.events'])
      await assert.rejects(async () => knex.raw(change), /only added/, change);
    assert.deepEqual(await kindsOf(userId), ['sign-out']);
  });

  it('deletes what is older than its days, and nothing else [authentication.record.retention]', async () => {
    const userId = randomUUID();
    const insert = `insert into auth.events (id, at, kind, user_id, actor)
      select gen_random_uuid(), now() - days * interval '1 day', days || ' days', $1, 'person' from unnest(array[3, 399, 401]) days`;
    await sql(insert, [userId]);
    assert.ok((await eventStore(knex).deleteOlder(400)) >= 1);
    assert.deepEqual(await kindsOf(userId), ['399 days', '3 days']);
  });

  it('is a log line and a count for each event, without a secret [authentication.record.acts]', async () => {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const counted: string[] = [];
    const record = openSecurityRecord(knex, {
      hasAccounts: true,
      apiKeysPerMinuteMax: 120,
      workspacesOf: async () => ({ ids: [], away: [] }),
      log: createLogger({ name: 'test', destination }),
      metrics: { event: (kind, outcome) => void counted.push(`${kind} ${outcome}`) },
    });
    const userId = randomUUID();
    await record.add({ kind: 'sign-in', userId, visitor: NO_VISITOR, details: { way: 'with a password' } });
    const [line = '{}'] = lines;
    const { event, msg } = JSON.parse(line) as { event: Record<string, unknown>; msg: string };
    assert.deepEqual(
      [msg, event['kind'], event['userId'], event['actor']],
      ['security event', 'sign-in', userId, 'person'],
    );
    assert.deepEqual(counted, ['sign-in written']);
  });

  it('takes a bounded number from strangers, of whom it says no address [authentication.record.bounded]', async () => {
    const record = openTestRecord(knex);
    const marked = { ...NO_VISITOR, requestId: randomUUID() };
    for (let n = 0; n <= AUTH_LIMITS.unknownEventsMax; n += 1)
      await record.add({ kind: 'sign-in-failed', visitor: marked, details: {} });
    const unknown = `select count(*)::int as n from auth.events where kind = 'sign-in-failed' and user_id is null`;
    assert.deepEqual(await sql(unknown), [{ n: AUTH_LIMITS.unknownEventsMax }]);
    const { browser, account } = await pages.signedIn();
    await browser.submit('/sign-in', { email: account.email, password: 'a wrong password' });
    assert.deepEqual(
      await kindsOf(await pages.testService.userOf(account)),
      ['sign-in', 'sign-in-failed'],
      'that of a person is not left out',
    );
  });
});
