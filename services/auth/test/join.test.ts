import { Fault } from '@wts/contracts';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { addApp } from './factors.ts';
import { SERVICE } from './test-service.ts';
import { openTestPages, type TestPages } from './people.ts';
import { eventually, hiddenOf } from '@wts/testkit';
import { openWorkspaceStandIn, type Invitation, type WorkspaceStandIn } from './workspace-stand-in.ts';

const PASSWORD = 'correct horse battery';

describe('joining by an invitation', () => {
  let pages: TestPages;
  let workspace: WorkspaceStandIn;
  before(async () => {
    workspace = await openWorkspaceStandIn();
    pages = await openTestPages({ WORKSPACE_SERVICE_URL: workspace.url });
  });
  after(async () => {
    await pages.testService.service.close();
    await workspace[Symbol.asyncDispose]();
  });

  const invite = (invitation: Partial<Invitation> | Fault = {}): string => {
    const code = randomUUID();
    const plain = {
      workspaceId: randomUUID(),
      workspaceName: 'Platform <1>',
      email: null,
      role: 'member',
      createdBy: randomUUID(),
    } as const;
    workspace.invitations.set(code, invitation instanceof Fault ? invitation : { ...plain, ...invitation });
    return code;
  };
  const identityOf = async (email: string): Promise<Record<string, unknown> | undefined> =>
    (
      await pages.testService.backends.sql(`select user_id, email_verified from auth.identities where email = $1`, [
        email,
      ])
    )[0];
  const newPerson = (): { name: string; email: string; password: string } => ({
    name: 'Grace Hopper',
    email: `${randomUUID()}@example.com`,
    password: PASSWORD,
  });

  it('creates an account, signs the person in and joins on behalf of the person [workspaces.invitations.page]', async () => {
    const code = invite();
    const browser = pages.browser();
    const page = await browser.get(`/join?code=${code}`);
    assert.match(page.text, /Join <bdi>Platform &lt;1&gt;<\/bdi>/);
    const person = newPerson();
    const answer = await browser.post('/join', { ...hiddenOf(page), ...person });
    assert.equal(answer.status, 200);
    assert.match(answer.text, /Welcome to <bdi>Platform/);
    const identity = await identityOf(person.email);
    assert.equal(identity?.['email_verified'], false, 'an invitation without an address verifies none');
    const joined = workspace.joined.find((one) => one.code === code);
    assert.equal(joined?.principal.userId, identity?.['user_id']);
    assert.match((await browser.get('/account')).text, /Grace Hopper/);
    assert.equal((await pages.browser().submit('/sign-in', person)).status, 303);
  });

  it('says that the account is created when its person cannot be, and sign-in works afterwards', async () => {
    const code = invite();
    const browser = pages.browser();
    const person = newPerson();
    const form = { ...hiddenOf(await browser.get(`/join?code=${code}`)), ...person };
    const { sync } = pages.testService.backends.wires;
    sync.cut();
    const answer = await browser.post('/join', form);
    sync.mend();
    assert.equal(answer.status, 503);
    assert.match(answer.text, /Your account is created\. Sign in with it/);
    assert.doesNotMatch(answer.text, /Nothing was changed/);
    // The service may avoid an address that just failed.
    await eventually(async () => (await pages.browser().submit('/sign-in', person)).status === 303);
    assert.ok((await identityOf(person.email))?.['user_id']);
  });

  it('leads to the page that adds a second factor where the workspace requires one, and joins with it [authentication.factors.workspace]', async () => {
    const code = invite();
    const browser = pages.browser();
    workspace.failure = new Fault('second_factor_required');
    const answer = await browser.post('/join', {
      ...hiddenOf(await browser.get(`/join?code=${code}`)),
      ...newPerson(),
    });
    assert.equal(answer.to?.href, `https://auth.example/account/second-factor?invitation=${code}`);
    const enrol = `/account/second-factor?invitation=${code}`;
    const { answer: added } = await addApp(browser, enrol);
    assert.ok(added.text.includes(`href="https://auth.example/join?code=${code}"`), added.text);
    assert.equal((await browser.get(enrol)).to?.pathname, '/join', 'a person who has one goes on');
    assert.match((await browser.submit(`/join?code=${code}`, {})).text, /Welcome to/);
  });

  it('with an invitation for an address takes that address, which the code proves for this invitation only [workspaces.invitations.page]', async () => {
    const email = `${randomUUID()}@example.com`;
    const code = invite({ email });
    const browser = pages.browser();
    const page = await browser.get(`/join?code=${code}`);
    assert.ok(page.text.includes(`value="${email}"`) && page.text.includes(' readonly'));
    await browser.post('/join', { ...hiddenOf(page), ...newPerson() });
    assert.equal(workspace.joined.find((one) => one.code === code)?.address, email);
    assert.equal((await identityOf(email))?.['email_verified'], false, 'the inviter has the code too');
  });

  it('shows names apart from the words around them, and without characters that reorder these [workspaces.invitations.page]', async () => {
    const code = invite({ workspaceName: 'Gr\u202Eup\u2066' });
    const { browser } = await pages.signedIn();
    for (const one of [browser, pages.browser()]) {
      const { text } = await one.get(`/join?code=${code}`);
      assert.match(text, /<title>Join Grup ·/);
      assert.match(text, /<h1>Join <bdi>Grup<\/bdi>/);
      assert.doesNotMatch(text, /[\u202E\u2066]/);
    }
    const page = await browser.get(`/join?code=${code}`);
    assert.match(page.text, /<button type="submit">Join <bdi>Grup<\/bdi>/);
    assert.match(page.text, /signed in as <strong><bdi>Ada Lovelace<\/bdi>/);
    assert.match((await browser.get('/account')).text, /<h1><bdi>Ada Lovelace<\/bdi>/);
  });

  it('lets a person who is signed in just join [workspaces.invitations.page]', async () => {
    const code = invite();
    const { browser, account } = await pages.signedIn();
    const answer = await browser.submit(`/join?code=${code}`, {}, '/join');
    assert.match(answer.text, /Welcome to/);
    const joined = workspace.joined.find((one) => one.code === code);
    assert.equal(joined?.principal.userId, (await identityOf(account.email))?.['user_id']);
    assert.deepEqual(joined?.principal.scopes, ['read', 'write', 'admin']);
  });

  it('leads over the sign-in for a person with an account', async () => {
    const code = invite();
    const account = await pages.account();
    const browser = pages.browser();
    const { to } = await browser.submit(`/sign-in?invitation=${code}`, { ...account });
    assert.equal(to?.href, `${pages.issuer}/join?code=${code}`);
    assert.match((await browser.open(`/join?code=${code}`)).text, /You are signed in as/);
  });

  it('shows what is wrong with an account, and creates none', async () => {
    const code = invite();
    const taken = await pages.account();
    const cases: [Record<string, string>, RegExp][] = [
      [{ name: ' ' }, /Enter your name/],
      [{ email: 'nobody' }, /Enter your email/],
      [{ password: 'short' }, /at least 10/],
      [{ email: taken.email.toUpperCase() }, /There is an account with this email/],
    ];
    for (const [change, expected] of cases) {
      const browser = pages.browser();
      const answer = await browser.submit(`/join?code=${code}`, { ...newPerson(), ...change });
      assert.equal(answer.status, 422);
      assert.match(answer.text, expected);
      assert.equal((await browser.get('/account')).status, 303);
    }
    assert.ok(!workspace.joined.some((one) => one.code === code));
  });

  it('creates no account whose address looks like another one [authentication.accounts.plain-address]', async () => {
    const code = invite();
    const { email } = newPerson();
    const hidden = ['\u200B', '\u200D', '\u202E', '\u00AD', '\u2060', '\uFEFF', '\u{E0041}'];
    for (const look of [...hidden.map((one) => email.replace('@', `${one}@`)), email.replace('@', '\u0430@')]) {
      const answer = await pages.browser().submit(`/join?code=${code}`, { ...newPerson(), email: look });
      assert.match(answer.text, /Enter your email/, encodeURIComponent(look));
    }
    const cyrillic = email.replace('example', 'ex\u0430mple');
    const browser = pages.browser();
    await browser.submit(`/join?code=${code}`, { ...newPerson(), email: cyrillic });
    assert.match((await browser.get('/account')).text, /@xn--exmple-4nf\.com/);
  });

  it('creates one account for the same address in parallel', async () => {
    const person = newPerson();
    const code = invite();
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => pages.browser().submit(`/join?code=${code}`, person)),
    );
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 422, 422, 422],
    );
  });

  it('records a registration with its account, once, also when its person is made later [authentication.record.acts]', async () => {
    const [person, code, browser] = [newPerson(), invite(), pages.browser()];
    const page = await browser.get(`/join?code=${code}`);
    const { sync } = pages.testService.backends.wires;
    sync.cut();
    const broken = await browser.post('/join', { ...hiddenOf(page), ...person });
    sync.mend();
    assert.equal(broken.status, 503);
    const registered = (): Promise<Record<string, unknown>[]> =>
      pages.testService.backends.sql(
        `select e.user_id from auth.events e join auth.accounts a on a.id = e.account_id where a.email = $1 and e.kind = 'registered'`,
        [person.email],
      );
    const events = await registered();
    assert.equal(events.length, 1);
    await eventually(async () => (await pages.browser().submit('/sign-in', person)).status === 303 || undefined);
    assert.deepEqual(
      [(await identityOf(person.email))?.['user_id'], await registered()],
      [events[0]?.['user_id'], events],
    );
  });

  it('shows a page for a code that is unknown, expired, or for another address', async () => {
    const { browser } = await pages.signedIn();
    for (const [code, status] of [
      [randomUUID(), 404],
      [invite(new Fault('invitation_expired')), 410],
    ] as const) {
      const answer = await pages.browser().get(`/join?code=${code}`);
      assert.equal(answer.status, status);
      assert.match(answer.text, /role="alert"/);
      assert.match(answer.text, /name="code"/, 'the person can enter another code');
      assert.doesNotMatch(answer.text, /Go to your account/, 'the person may have none');
    }
    const code = invite({ email: 'other@example.com' });
    workspace.failure = new Fault('wrong_address');
    const answer = await browser.submit(`/join?code=${code}`, {}, '/join');
    assert.equal(answer.status, 403);
    assert.match(answer.text, /e-mail address the invitation was made for/);
  });

  it('looks a code up for the person who is signed in, whose wrong codes are counted, else for this service [workspaces.invitations.page]', async () => {
    const { browser, account } = await pages.signedIn();
    const code = randomUUID();
    await browser.get(`/join?code=${code}`);
    await pages.browser().get(`/join?code=${code}`);
    const readers = workspace.readers.filter((one) => one.code === code).map(({ principal }) => principal);
    const own = (await identityOf(account.email))?.['user_id'];
    assert.deepEqual(
      readers.map(({ userId, credential }) => [userId, credential.kind]),
      [
        [own, 'jwt'],
        [SERVICE.userId, SERVICE.credential.kind],
      ],
    );
  });

  it('says who invites and with which role, and to a member that there is nothing to accept [workspaces.invitations.page]', async () => {
    const { id: workspaceId, owner } = await pages.testService.workspace();
    const code = invite({ workspaceId, createdBy: owner.userId, role: 'guest' });
    const { browser, account } = await pages.signedIn();
    for (const one of [browser, pages.browser()]) {
      const { text } = await one.get(`/join?code=${code}`);
      assert.match(text, /<bdi>Person [0-9a-f]{8}<\/bdi> invites you with the role <strong>guest<\/strong>/);
    }
    await pages.testService.addMember(workspaceId, String((await identityOf(account.email))?.['user_id']), 'admin');
    const { text } = await browser.get(`/join?code=${code}`);
    assert.match(text, /<h1>You are already a member<\/h1>/);
    assert.match(text, /with the role <strong>admin<\/strong>/);
    assert.doesNotMatch(text, /<form/);
  });

  it('can be continued with the account after the workspace service failed', async () => {
    const code = invite();
    const person = newPerson();
    const browser = pages.browser();
    workspace.failure = new Fault('unavailable');
    assert.equal((await browser.submit(`/join?code=${code}`, person)).status, 503);
    await browser.submit(`/sign-in?invitation=${code}`, person);
    assert.match((await browser.submit(`/join?code=${code}`, {}, '/join')).text, /Welcome to/);
  });

  it('refuses forms without the token of the page [authentication.pages.forged-forms]', async () => {
    const code = invite();
    assert.equal((await pages.browser().post('/join', { code, ...newPerson() })).status, 403);
    const { browser } = await pages.signedIn();
    assert.equal((await browser.post('/join', { code })).status, 403);
  });
});
