import { createLogger } from '@wts/service-kit/observe';
import { openPostgres, rows } from '@wts/service-kit/postgres';
import { parseSecretKeys, sealSecret, unsealSecret } from '@wts/service-kit/sealing';
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { openTestStore } from '../../test/store.ts';
import { sha256 } from '../domain/sha256.ts';
import { contentOf, makeLinkWith } from '../links/make-link.ts';
import { sealContent, unsealContent } from '../mail/mailer.ts';
import { openSigningKeys, replaceSigningKey } from '../oauth/signing-keys.ts';
import { mailLinkStore } from './mail-links.ts';
import { mailStore } from './mails.ts';
import { resealAll } from './sealed-tables.ts';
import { secondFactorStore } from './second-factors.ts';
import { signingKeyStore } from './signing-keys.ts';

const log = createLogger({ name: 'test', level: 'warn' });
const newKey = (): string => randomBytes(32).toString('base64');

describe('what AUTH_SECRET_KEY encrypts', () => {
  it('is sealed with its first key soon after that changed, in every table, so that the key before can be removed [secrets.sealed]', async () => {
    await using stack = new AsyncDisposableStack();
    const { knex, url } = stack.use(await openTestStore('sealed'));
    const { pool } = openPostgres({ url, poolMax: 2, applicationName: 'test', log, stack });
    const [oldText, nextText] = [newKey(), newKey()];
    const [old, next] = [parseSecretKeys(oldText), parseSecretKeys(nextText)];
    const signing = { store: signingKeyStore(knex), rotationMs: 86_400_000 };
    const { id: signsNow } = await openSigningKeys({ ...signing, secretKeys: old }).current();
    const accountId = randomUUID();
    await rows(
      knex,
      `insert into auth.accounts (id, email, shown_email, name, password_hash) values (:accountId, 'a', 'a', 'Ada', 'x')`,
      { accountId },
    );
    const factors = secondFactorStore(knex, { workspacesOf: async () => ({ ids: [], away: [] }) });
    const [totpName, secret] = [`totp ${accountId}`, randomBytes(20)];
    await factors.setTotp(accountId, sealSecret(old, totpName, secret), 0);
    const linkContext = { links: mailLinkStore(knex), issuer: 'https://auth.example', secretKeys: old };
    const link = await makeLinkWith(
      linkContext,
      { waits: 'for the link' },
      { kind: 'registration', accountId: null, address: 'a@example.com', lifeMs: 60_000 },
    );
    const mailId = randomUUID();
    const mail = { url: 'https://auth.example/forgot-password' };
    const queued = {
      id: mailId,
      kind: 'password-changed',
      recipient: 'a@example.com',
      userId: null,
      lifeMs: 60_000,
    } as const;
    await mailStore(knex).insert({ ...queued, ...sealContent(old, mailId, mail) });

    const tables = await rows<{ name: string }>(
      knex,
      `select table_name as name from information_schema.columns where table_schema = 'auth' and column_name = 'sealed_with'`,
    );
    const sealedWith = async (): Promise<string[]> =>
      (
        await Promise.all(
          tables.map(({ name }) =>
            rows<{ by: string }>(knex, `select '${name} ' || sealed_with as by from auth.${name}`),
          ),
        )
      ).map(([row]) => row?.by ?? '');
    const byKey = (id: string): string[] => tables.map(({ name }) => `${name} ${id}`);
    assert.deepEqual(await sealedWith(), byKey(old.current.id), 'this test has a row in each table');
    // One that is damaged is in the way of no other.
    const damaged = randomUUID();
    const keys = parseSecretKeys(`${nextText},${oldText}`);
    await mailStore(knex).insert({ ...queued, id: damaged, ...sealContent(old, randomUUID(), mail) });
    await assert.rejects(resealAll(pool, keys, log), new RegExp(`1 secrets in auth.mails .*${damaged}`));
    await rows(knex, 'delete from auth.mails where id = :damaged', { damaged });
    assert.deepEqual(await sealedWith(), byKey(next.current.id));
    await resealAll(pool, keys, log);

    assert.equal((await openSigningKeys({ ...signing, secretKeys: next }).current()).id, signsNow);
    const totp = await factors.findTotp(accountId);
    assert.deepEqual(totp && unsealSecret(next, totpName, totp), secret);
    const { token } = Object.fromEntries(new URL(link.url).searchParams);
    const found = await linkContext.links.find(sha256(token ?? ''));
    assert.deepEqual(found && contentOf(next, found), { waits: 'for the link' });
    const claimed = await mailStore(knex).claim(1_000);
    assert.deepEqual(claimed && unsealContent(next, mailId, claimed), mail);
  });
});

describe('a key of access tokens', () => {
  it('is replaced before its time: by one that signs later, or of one that leaked at once [secrets.signing-keys]', async () => {
    await using stack = new AsyncDisposableStack();
    const { knex } = stack.use(await openTestStore('signing-keys'));
    const store = signingKeyStore(knex);
    const secretKeys = parseSecretKeys(newKey());
    const open = (): ReturnType<typeof openSigningKeys> =>
      openSigningKeys({ store, secretKeys, rotationMs: 86_400_000 });
    const first = (await open().current()).id;
    await replaceSigningKey({ store, secretKeys }, { isLeaked: false });
    assert.equal((await open().current()).id, first, 'verifiers get the new one before it signs');
    assert.equal((await open().publicKeys()).length, 2);
    await open().rotate();
    assert.equal((await open().publicKeys()).length, 2);
    await replaceSigningKey({ store, secretKeys }, { isLeaked: true });
    const replaced = open();
    assert.notEqual((await replaced.current()).id, first);
    assert.deepEqual(
      (await replaced.publicKeys()).map(({ kid }) => kid),
      [(await replaced.current()).id],
    );
  });
});
