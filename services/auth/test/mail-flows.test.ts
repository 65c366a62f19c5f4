import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mailApi, operatorApi } from '@wts/contracts';
import { eventually, hiddenOf, type Answer, type TestBrowser } from '@wts/testkit';
import { addApp, addPasskey, optionsOf } from './factors.ts';
import { MailPages } from './mail.ts';
import { TestOperator } from './operator.ts';
import type { TestAccount } from './people.ts';
import { SERVICE } from './test-service.ts';
import { openWorkspaceStandIn, type WorkspaceStandIn } from './workspace-stand-in.ts';

const PASSWORD = 'correct horse battery';

describe('the flows by mail', () => {
  const stack = new AsyncDisposableStack();
  let mail: MailPages;
  let workspace: WorkspaceStandIn;
  before(async () => {
    workspace = stack.use(await openWorkspaceStandIn());
    mail = stack.use(await MailPages.open({ WORKSPACE_SERVICE_URL: workspace.url }));
  });
  after(() => stack.disposeAsync());

  const sql = (text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> =>
    mail.pages.testService.backends.sql(text, values);
  const invite = (email: string | null = null, workspaceName = 'Platform'): string => {
    const code = randomUUID();
    const plain = { workspaceId: randomUUID(), workspaceName, role: 'member', createdBy: randomUUID() } as const;
    workspace.invitations.set(code, { ...plain, email });
    return code;
  };
  const newPerson = (email = `${randomUUID()}@example.com`): { name: string; email: string; password: string } => ({
    name: 'Grace Hopper',
    email,
    password: PASSWORD,
  });
  const accountOf = async (email: string): Promise<Record<string, unknown> | undefined> =>
    (await sql(`select id, email_verified, name from auth.accounts where email = $1`, [email]))[0];
  const shownEmailOf = async (account: Pick<TestAccount, 'id'>): Promise<unknown> =>
    (await mail.pages.testService.recordOfAccount(account))?.['email'];
  const register = (browser: TestBrowser, code: string, person: Record<string, string>): Promise<Answer> =>
    browser.submit(`/join?code=${code}`, person, '/join');
  const joined = (code: string): boolean => workspace.joined.some((one) => one.code === code);

  it('create an account when the mailed link is confirmed and not before, sign in, and join [authentication.mail.registration]', async () => {
    const [code, person, browser] = [invite(), newPerson(), mail.pages.browser()];
    assert.match((await register(browser, code, person)).text, /Look into your mail/);
    assert.equal(await accountOf(person.email), undefined);
    const link = await mail.linkTo(person.email, 'Confirm your account');
    assert.match((await browser.get(link)).text, /Confirm your address/);
    assert.equal(await accountOf(person.email), undefined, 'opening it creates nothing');
    assert.match((await browser.submit(link, {}, '/link')).text, /Welcome to <bdi>Platform/);
    assert.equal((await accountOf(person.email))?.['email_verified'], true);
    assert.ok(joined(code));
    assert.match((await browser.get('/account')).text, /Grace Hopper/);
    assert.equal((await browser.get(link)).status, 410);
    assert.ok(!JSON.stringify(await sql(`select l::text from auth.mail_links l`)).includes(PASSWORD));
  });

  it('confirm a registration in another browser only with its password, so no one gets an account with the password of an attacker [authentication.mail.registration]', async () => {
    const [code, person] = [invite(), newPerson()];
    await register(mail.pages.browser(), code, person);
    const link = await mail.linkTo(person.email, 'Confirm your account');
    const other = mail.pages.browser();
    assert.match((await other.get(link)).text, /type="password"/);
    assert.equal((await other.submit(link, {}, '/link')).status, 422);
    assert.equal((await other.submit(link, { password: 'wrong password' }, '/link')).status, 422);
    assert.match((await other.submit(link, { password: PASSWORD }, '/link')).text, /Welcome to/);
  });

  it('answer a registration alike for an address with an account, whose owner gets another mail [authentication.mail.no-oracle]', async () => {
    const [code, account] = [invite(), await mail.pages.account(PASSWORD, true)];
    const answers = [];
    for (const email of [account.email, newPerson().email]) {
      const { status, text } = await register(mail.pages.browser(), code, newPerson(email));
      answers.push([status, text.replaceAll(email, '')]);
    }
    assert.deepEqual(answers[0], answers[1]);
    const { links } = await mail.mailTo(account.email, 'You have an account already');
    assert.match(links[0] ?? '', new RegExp(`/sign-in\\?invitation=${code}`));
  });

  it('give an account back to its mailbox after another person, who had its password, added its only second factor [authentication.factors.take-back]', async () => {
    const account = await mail.pages.account(PASSWORD, true);
    const thief = mail.pages.browser();
    await thief.submit('/sign-in', { ...account });
    await addPasskey(mail.pages, thief);
    const first = await mail.linkTo(account.email, 'has a second factor');
    await addApp(thief);
    await mail.mailTo(account.email, 'Your second factor was changed');
    const owner = mail.pages.browser();
    assert.match((await owner.get(first)).text, /Take your account back/);
    assert.match((await owner.submit(first, { password: `${PASSWORD} 2` }, '/link')).text, /yours again/);
    assert.equal((await thief.get('/account')).status, 303, 'the session ended');
    assert.equal((await thief.submit('/sign-in', { ...account })).status, 422);
    const answer = await owner.submit('/sign-in', { email: account.email, password: `${PASSWORD} 2` });
    assert.equal(answer.to?.pathname, '/account', 'no second factor is left');
    const factors = `select account_id from auth.passkeys union all select account_id from auth.totp`;
    assert.deepEqual(await sql(`select from (${factors}) f where account_id = $1`, [account.id]), []);
    assert.equal((await owner.get(first)).status, 410);
  });

  it('take an address from an account that never proved it, which keeps its sessions and sees why [authentication.mail.proved-address]', async () => {
    const { browser: squatter, account } = await mail.pages.signedIn();
    assert.equal(await shownEmailOf(account), account.email);
    const [code, owner] = [invite(), mail.pages.browser()];
    await register(owner, code, newPerson(account.email));
    assert.match(
      (await owner.submit(await mail.linkTo(account.email, 'Confirm your account'), {}, '/link')).text,
      /Welcome/,
    );
    const now = await accountOf(account.email);
    assert.notEqual(now?.['id'], account.id);
    assert.match((await squatter.get('/account')).text, /your account lost it/);
    assert.equal(await shownEmailOf(account), null);
    assert.equal(await shownEmailOf({ id: String(now?.['id']) }), account.email);
    assert.equal(
      (await mail.pages.browser().submit('/sign-in', { ...account })).status,
      303,
      'of the owner now, whose password is the same in this test',
    );
    const lost = await sql(`select kind from auth.events where account_id = $1 and kind = 'address-lost'`, [
      account.id,
    ]);
    assert.equal(lost.length, 1);
  });

  it('invite by a mail whose link proves the address, once, and leads through /join [authentication.mail.invitation]', async () => {
    const email = `${randomUUID()}@example.com`;
    const name = 'evil.example/x';
    const code = invite(email, name);
    const body = {
      code,
      email,
      workspaceName: name,
      role: 'member',
      createdBy: randomUUID(),
      expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
    } as const;
    const { body: reply } = await mail.pages.testService.call(SERVICE, mailApi.internalMailInvitation, { body });
    assert.equal(reply.isMailed, true);
    const { text, links, html } = await mail.mailTo(email, 'Invitation');
    assert.equal(links.length, 1, 'no link is made of a name');
    assert.ok(text.includes('evil.\u2060example/\u2060x') && html.includes('evil.\u2060example'));
    const link = (links[0] ?? '').slice(mail.pages.issuer.length);
    const browser = mail.pages.browser();
    const page = await browser.open(link);
    const answer = await browser.post('/join', { ...hiddenOf(page), ...newPerson() });
    assert.match(answer.text, /Welcome to/);
    assert.equal((await accountOf(email))?.['email_verified'], true, 'no further mail is needed');
    assert.equal((await mail.pages.browser().open(link)).status, 410);
    await mail.mailTo(email, 'Welcome to');
    const guessed = await register(mail.pages.browser(), invite(email), newPerson());
    assert.match(guessed.text, /Look into your mail/, 'the code alone proves nothing');
  });

  it('create an account and replace a password also while others send invitations to the address [authentication.mail.rates]', async () => {
    const [{ account }, person] = [await mail.pages.signedIn(), newPerson()];
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const inviteByMail = async (email: string): Promise<boolean> => {
      const invitation = { email, workspaceName: 'Platform', role: 'member', expiresAt } as const;
      const body = { ...invitation, code: randomUUID(), createdBy: randomUUID() };
      return (await mail.pages.testService.call(SERVICE, mailApi.internalMailInvitation, { body })).body.isMailed;
    };
    for (const { email } of [account, person]) while (await inviteByMail(email));
    assert.match((await register(mail.pages.browser(), invite(), person)).text, /Look into your mail/);
    await mail.linkTo(person.email, 'Confirm your account');
    assert.equal((await mail.pages.browser().submit('/forgot-password', { email: account.email })).status, 200);
    await mail.linkTo(account.email, 'new password');
  });

  it('give the first owner the link of the operator too', async () => {
    const operator = await TestOperator.of(mail.pages.testService);
    const body = {
      email: `${randomUUID()}@example.com`,
      name: 'Ada',
      workspaceName: 'Acme',
      urlKey: `w-${randomUUID().slice(0, 12)}`,
    };
    const made = await operator.call(operatorApi.createOwner, { body });
    assert.equal(made.status, 201, made.text);
    assert.deepEqual((await mail.mailTo(body.email, 'You own the workspace')).links, [made.body.link.url]);
  });

  it('verify the address of an older account, in its browser or with its password [authentication.mail.proved-address]', async () => {
    const { browser, account } = await mail.pages.signedIn();
    assert.match((await browser.get('/account')).text, /not confirmed/);
    assert.equal((await browser.submit('/account', {}, '/account/address/verify')).status, 303);
    const link = await mail.linkTo(account.email, 'Confirm your email');
    const other = mail.pages.browser();
    assert.equal((await other.submit(link, { password: 'wrong password' }, '/link')).status, 422);
    assert.match((await other.submit(link, { password: account.password }, '/link')).text, /address is confirmed/);
    assert.equal((await accountOf(account.email))?.['email_verified'], true);
    assert.match((await browser.get('/account')).text, />confirmed</);
  });

  it('change an address by a link to the new one, and let the old one take it back within a week [authentication.mail.change]', async () => {
    const { browser, account } = await mail.pages.signedIn(await mail.pages.account(PASSWORD, true));
    const fresh = `${randomUUID()}@example.com`;
    assert.equal((await browser.submit('/account', { email: fresh }, '/account/address')).status, 303);
    const stop = await mail.linkTo(account.email, 'is to change');
    assert.match(
      (await browser.submit(await mail.linkTo(fresh, 'new email'), {}, '/link')).text,
      /address is confirmed/,
    );
    assert.equal((await accountOf(fresh))?.['id'], account.id);
    const further = { email: `${randomUUID()}@example.com` };
    assert.equal(
      (await browser.submit('/account', further, '/account/address')).status,
      303,
      'ends no link of the first address',
    );
    const later = await mail.linkTo(fresh, 'is to change');
    await eventually(async () => (await shownEmailOf(account)) === fresh || undefined);
    await sql(
      `update auth.mail_links set created_at = created_at - interval '6 days', expires_at = expires_at - interval '6 days' where account_id = $1`,
      [account.id],
    );
    const owner = mail.pages.browser();
    const { to } = await owner.submit(stop, {}, '/link');
    assert.equal((await browser.get('/account')).status, 303, 'signed out everywhere');
    assert.equal((await browser.get(later)).status, 410, 'the second address takes nothing back');
    assert.equal((await accountOf(account.email))?.['id'], account.id);
    assert.equal(await shownEmailOf(account), account.email);
    assert.match(
      (
        await owner.submit(
          (to?.href ?? '').slice(mail.pages.issuer.length),
          { password: 'another horse battery' },
          '/link',
        )
      ).text,
      /Your password is changed/,
    );
  });

  it('give an address back also while sync is away, and show it later [authentication.mail.change]', async () => {
    const { browser, account } = await mail.pages.signedIn(await mail.pages.account(PASSWORD, true));
    const fresh = `${randomUUID()}@example.com`;
    await browser.submit('/account', { email: fresh }, '/account/address');
    const stop = await mail.linkTo(account.email, 'is to change');
    await browser.submit(await mail.linkTo(fresh, 'new email'), {}, '/link');
    await eventually(async () => (await shownEmailOf(account)) === fresh || undefined);
    const owner = mail.pages.browser();
    const { sync } = mail.pages.testService.backends.wires;
    sync.cut();
    const stopped = await owner.submit(stop, {}, '/link');
    sync.mend();
    assert.equal(stopped.status, 303);
    assert.equal((await browser.get('/account')).status, 303, 'signed out everywhere');
    const events = `select kind from auth.events where account_id = $1 and kind = 'address-change-stopped'`;
    assert.equal((await sql(events, [account.id])).length, 1);
    const password = 'another horse battery';
    const reset = (stopped.to?.href ?? '').slice(mail.pages.issuer.length);
    assert.match((await owner.submit(reset, { password }, '/link')).text, /Your password is changed/);
    await eventually(async () => {
      const { status } = await mail.pages.browser().submit('/sign-in', { email: account.email, password });
      return status === 303 || undefined;
    });
    await eventually(async () => (await shownEmailOf(account)) === account.email || undefined);
  });

  it('send no link to a new address when the owner of the old one cannot be told [authentication.mail.change]', async () => {
    const { browser, account } = await mail.pages.signedIn(await mail.pages.account(PASSWORD, true));
    const fresh = `${randomUUID()}@example.com`;
    await sql(
      `create function auth.skip() returns trigger language plpgsql as $$ begin return null; end $$;
        create trigger skips before insert on auth.mails for each row when (new.kind = 'address-changes') execute function auth.skip()`,
    );
    const { status } = await browser.submit('/account', { email: fresh }, '/account/address');
    await sql(`drop function auth.skip cascade`);
    assert.equal(status, 503);
    assert.deepEqual(await sql(`select from auth.mails where recipient = $1`, [fresh]), []);
    assert.deepEqual(await sql(`select from auth.mail_links where account_id = $1`, [account.id]), []);
  });

  it('change an address after the password or a passkey when the sign-in is old, so an account whose password no one knows can [authentication.mail.change, authentication.sessions.ask-again]', async () => {
    const { browser, account } = await mail.pages.signedIn(await mail.pages.account(PASSWORD, true));
    const { authenticator } = await addPasskey(mail.pages, browser);
    await sql(
      `update auth.sessions set created_at = created_at - interval '11 minutes', confirmed_at = null where account_id = $1`,
      [account.id],
    );
    const fresh = `${randomUUID()}@example.com`;
    const asked = await browser.submit('/account', { email: fresh }, '/account/address');
    assert.match(asked.text, /To change your address, enter your password again/);
    const form = hiddenOf(asked, '/account/address');
    assert.equal((await browser.post('/account/address', { ...form, again_password: 'wrong password' })).status, 422);
    const again = { again: 'passkey', again_passkey: authenticator.get(optionsOf(asked, 'get')) };
    assert.equal((await browser.post('/account/address', { ...form, ...again })).status, 303);
    const link = await mail.linkTo(fresh, 'new email');
    assert.match((await mail.pages.browser().get(link)).text, /sign in<\/a>\s+and open the link again/);
    assert.match((await browser.submit(link, {}, '/link')).text, /address is confirmed/);
    assert.equal((await accountOf(fresh))?.['id'], account.id);
  });

  it('are sent to a proved address about a new password, a new key, and a sign-in in a new browser and network, and to no other [authentication.mail.notices]', async () => {
    const proved = await mail.pages.signedIn(await mail.pages.account(PASSWORD, true));
    await mail.mailTo(proved.account.email, 'New sign-in');
    const silent = await mail.pages.signedIn();
    for (const { browser } of [proved, silent]) {
      await browser.submit('/account/keys', { label: 'ci' }, '/account/keys');
      await browser.submit(
        '/account/security',
        { current: PASSWORD, password: 'another horse battery' },
        '/account/password',
      );
    }
    await mail.mailTo(proved.account.email, 'New API key');
    await mail.mailTo(proved.account.email, 'password was changed');
    await proved.browser.submit('/sign-in', { email: proved.account.email, password: 'another horse battery' });
    const settled = async (): Promise<true | undefined> =>
      (await sql(`select from auth.mails where state = 'waiting'`)).length === 0 || undefined;
    await eventually(settled);
    const subjectsOf = (email: string): number => mail.catcher.mails.filter(({ to }) => to === email).length;
    assert.deepEqual([subjectsOf(proved.account.email), subjectsOf(silent.account.email)], [3, 0]);
  });

  it('give no address to an account whose person was not there, nor one that is proved by another [authentication.mail.proved-address]', async () => {
    const { browser } = await mail.pages.signedIn();
    const victim = await mail.pages.account(PASSWORD, true);
    await browser.submit('/account', { email: victim.email }, '/account/address');
    const link = await mail.linkTo(victim.email, 'new email');
    assert.equal((await mail.pages.browser().submit(link, { password: 'anything at all' }, '/link')).status, 422);
    assert.equal((await browser.submit(link, {}, '/link')).status, 409);
    assert.equal((await accountOf(victim.email))?.['id'], victim.id);
  });
});
