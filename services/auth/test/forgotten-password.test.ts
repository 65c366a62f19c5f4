import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { eventually, hiddenOf } from '@wts/testkit';
import { AUTH_LIMITS } from '../src/limits.ts';
import { MailPages } from './mail.ts';
import { openTestPages } from './people.ts';

const NEW_PASSWORD = 'another horse battery';

describe('a forgotten password', () => {
  let mail: MailPages;
  before(async () => (mail = await MailPages.open()));
  after(() => mail[Symbol.asyncDispose]());

  const sql = (text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> =>
    mail.pages.testService.backends.sql(text, values);

  it('is replaced by a link in a mail, also in another browser, and the newest link alone works [authentication.accounts.password-reset]', async () => {
    const { browser, account } = await mail.pages.signedIn();
    assert.match((await browser.submit('/forgot-password', { email: account.email })).text, /Look into your mail/);
    const first = await mail.linkTo(account.email, 'new password');
    await mail.pages.browser().submit('/forgot-password', { email: ` ${account.email.toUpperCase()} ` });
    const second = await eventually(async () => {
      const link = await mail.linkTo(account.email, 'new password');
      return link === first ? undefined : link;
    });
    const other = mail.pages.browser();
    assert.equal((await other.get(first)).status, 410);
    assert.equal((await other.submit(second, { password: NEW_PASSWORD }, '/link')).status, 200);
    assert.equal((await other.submit('/sign-in', { email: account.email, password: NEW_PASSWORD })).status, 303);
    const events = await sql(
      `select kind from auth.events where account_id = $1 and kind like any('{mail-link-asked,password-reset}')`,
      [account.id],
    );
    assert.deepEqual(
      events.map(({ kind }) => String(kind)).toSorted((a, b) => a.localeCompare(b)),
      ['mail-link-asked', 'mail-link-asked', 'password-reset'],
    );
  });

  it('whose link is the first proof of an address ends the keys and second factors of an earlier holder [authentication.accounts.password-reset]', async () => {
    const { browser, account } = await mail.pages.signedIn();
    const left = async (): Promise<unknown> =>
      (
        await sql(
          `select (select count(*)::integer from auth.totp where account_id = $1) as factors,
             (select count(*)::integer from auth.api_keys k join auth.identities i on i.user_id = k.user_id
              where i.subject = $1::text and k.revoked_at is null) as keys`,
          [account.id],
        )
      )[0];
    await browser.submit('/account/keys', { label: 'theirs', access: 'full-access' }, '/account/keys');
    const factor = `insert into auth.totp (account_id, secret, sealed_with, last_step) values ($1, '', '', 0)`;
    await sql(factor, [account.id]);
    assert.deepEqual(await left(), { factors: 1, keys: 1 });
    await mail.pages.browser().submit('/forgot-password', { email: account.email });
    const link = await mail.linkTo(account.email, 'new password');
    await mail.pages.browser().submit(link, { password: NEW_PASSWORD }, '/link');
    assert.deepEqual(await left(), { factors: 0, keys: 0 });
    const ended = `select from auth.events where account_id = $1 and kind = 'holder-ended'`;
    assert.equal((await sql(ended, [account.id])).length, 1);
  });

  it('has the same answer and the same rows for an address without an account, which gets no mail [authentication.mail.no-oracle]', async () => {
    const account = await mail.pages.account();
    const unknown = `${randomUUID()}@example.com`;
    const answers = [];
    for (const email of [unknown, account.email]) {
      const { status, text } = await mail.pages.browser().submit('/forgot-password', { email });
      answers.push([status, text.replaceAll(email, '')]);
    }
    assert.deepEqual(answers[0], answers[1]);
    await mail.mailTo(account.email, 'new password');
    await eventually(
      async () => (await sql(`select from auth.mails where state = 'waiting'`)).length === 0 || undefined,
    );
    assert.ok(!mail.catcher.mails.some(({ to }) => to === unknown));
  });

  it('is asked for a few times an hour for an address and a network, known or not [authentication.mail.rates]', async () => {
    const account = await mail.pages.account();
    for (const email of [account.email, `${randomUUID()}@example.com`]) {
      for (let n = 0; n < AUTH_LIMITS.mailsAskedOfAddressMax; n += 1)
        assert.equal((await mail.pages.browser().submit('/forgot-password', { email })).status, 200);
      const refused = await mail.pages.browser().submit('/forgot-password', { email });
      assert.equal(refused.status, 422);
      assert.match(refused.text, /Try again in (59|60) minutes/);
    }
    const browser = mail.pages.browser();
    const fields = hiddenOf(await browser.get('/forgot-password'));
    for (let n = 0; n < AUTH_LIMITS.mailsAskedOfNetworkMax; n += 1)
      await browser.post('/forgot-password', { ...fields, email: `${randomUUID()}@example.com` });
    assert.equal(
      (await browser.post('/forgot-password', { ...fields, email: `${randomUUID()}@example.com` })).status,
      422,
    );
  });

  it('needs the operator where no mail is sent, and the pages say so', async () => {
    const silent = await openTestPages();
    const { text } = await silent.browser().get('/forgot-password');
    assert.match(text, /Ask its operator/);
    assert.ok(!text.includes('<form'));
    assert.match((await silent.browser().get('/sign-in')).text, /href="\/forgot-password"/);
    await silent.testService.service.close();
  });
});
