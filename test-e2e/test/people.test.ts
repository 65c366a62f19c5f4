import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { browserSystem } from './browser-system.ts';
import { Machine } from './cli-login.ts';
import { PHONE, type Tab } from './console-browser.ts';
import { WEB_SUBJECT } from './identity-provider.ts';
import { factorTests } from './people-factors.ts';
import { PeopleBrowser, signIn } from './people-browser.ts';

describe('the pages for people, which have no barriers that axe finds, also dark and on a phone (skipped where there is no Chromium)', function pages() {
  let system: PeopleBrowser;

  before(async function start() {
    system = await PeopleBrowser.open(await browserSystem(this));
  });
  after(() => system?.close());

  const statusOf = async (token: string): Promise<number> =>
    (await system.testSystem.request(token, 'GET', '/api/workspaces')).status;
  const invite = async (body: object): Promise<string> => {
    const { apiKey, workspaceId } = system.testSystem;
    const { text } = await system.testSystem.request(apiKey, 'POST', `/api/workspaces/${workspaceId}/invitations`, {
      body,
    });
    return (JSON.parse(text) as { invitation: { code: string } }).invitation.code;
  };
  const membersOf = async (): Promise<string> => {
    const { apiKey, workspaceId } = system.testSystem;
    return (await system.testSystem.request(apiKey, 'GET', `/api/workspaces/${workspaceId}/members`)).text;
  };

  /** From the sign-in, by a mail. */
  const replacePassword = async (tab: Tab, { email }: { readonly email: string }): Promise<void> => {
    const { page } = tab;
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByRole('heading', { name: 'Forgot your password' }).waitFor();
    await tab.checkBarriers('forgot password');
    await page.getByLabel('Email').fill(email);
    await tab.button('Send a link').click();
    await page.getByRole('heading', { name: 'Look into your mail' }).waitFor();
    await page.goto(await system.mailedLink(email, 'Choose a new password'));
    await tab.checkBarriers('new password');
    await page.getByLabel('New password').fill('a third horse battery');
    await tab.button('Change password').click();
    await page.getByText('Your password is changed').waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await signIn(tab, { email, password: 'a third horse battery' });
  };

  it('lead from an app over sign-in and consent by the keyboard alone back to the app, whose token works until it is revoked [authentication.oauth.authorize, authentication.consent.redirect, authentication.consent.early-click]', async () => {
    const app = await system.app('Example Editor');
    await using tab = await system.tab(app.address);
    const { page } = tab;
    await page.getByText('to continue to Example Editor').waitFor();
    await tab.checkBarriers('sign-in');
    // The first field has the focus, which Chromium gives it with the first frame after loading.
    await page.locator('input[name="email"]:focus').waitFor();
    for (const text of [system.testSystem.account.email, system.testSystem.account.password]) {
      await page.keyboard.type(text);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Allow Example Editor to use your account?' }).waitFor();
    await page.getByText('demo@example.com').waitFor();
    // A click that was meant for a page before this one decides nothing.
    const begun = await page.evaluate<unknown>(`(async () => {
      // Before the first frame no animation has begun.
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const choices = document.querySelector('.choices');
      const { animationName, animationDuration } = getComputedStyle(choices);
      const events = (animation) => {
        choices.style.animation = animation;
        return getComputedStyle(choices.firstElementChild).pointerEvents;
      };
      return [events(animationName + ' 1s paused'), events('none'), parseFloat(animationDuration) >= 0.5];
    })()`);
    assert.deepEqual(begun, ['none', 'auto', true]);
    await page.reload();
    await tab.checkBarriers('consent');
    const focused = (): Promise<string> => tab.run<string>('document.activeElement.textContent.trim()');
    for (let presses = 0; presses < 5 && (await focused()) !== 'Allow'; presses += 1) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    // Chromium applies the policy of the page to the redirect after the form too.
    await page.getByText('You can close this page.').waitFor();
    const answer = Object.fromEntries(system.answers.at(-1)!);
    assert.deepEqual([answer['state'], answer['iss']], ['a state', system.testSystem.authUrl]);
    assert.deepEqual(tab.faults, []);
    const token = await system.redeem(app);
    assert.equal(await statusOf(token), 200);

    await page.goto(`${system.testSystem.authUrl}/account/apps`);
    await tab.checkBarriers('apps');
    await page.getByRole('link', { name: 'Revoke access of Example Editor' }).click();
    await tab.button('Revoke access').click();
    await page.getByText('Access revoked.').waitFor();
    await eventually(async () => (await statusOf(token)) === 401 || undefined);
    await page.getByText('No app is connected.').waitFor();
  });

  it('let a person deny, and an app on the device or a site get the answer without a fault of the policy [authentication.consent.redirect]', async () => {
    const app = await system.app('Denied');
    await using tab = await system.tab(app.address);
    const { page } = tab;
    await signIn(tab, system.testSystem.account);
    await tab.button('Deny').click();
    await page.getByText('You can close this page.').waitFor();
    assert.equal(system.answers.at(-1)?.get('error'), 'access_denied');
    await page.goto(`${system.testSystem.authUrl}/authorize`);
    await tab.checkBarriers('a request without an app');
    for (const redirectUri of ['com.example.app:/callback', 'https://app.example/callback']) {
      // In a page of its own, because a browser with windows asks there which program opens the address of an app.
      const own = await tab.beside((await system.app('Other', redirectUri)).address);
      await own.checkBarriers(`consent to ${redirectUri}`);
      const left = own.page.waitForEvent('request', (request) => request.url().startsWith(redirectUri));
      await Promise.all([left, own.button('Allow').click()]);
      assert.ok(!own.faults.some((fault) => fault.includes('Content Security Policy')), own.faults.join('\n'));
    }
  });

  it('connect a command line over the sign-in, by a port of the device or by a code to copy, with a key that works [authentication.connect.page, authentication.connect.key]', async () => {
    const { account, baseUrl } = system.testSystem;
    const machine = new Machine(system.testSystem);
    const login = machine.start(['login', baseUrl]);
    await using tab = await system.tab((await login.address()).href);
    const { page } = tab;
    await page.getByText('to continue to wts on ').waitFor();
    await signIn(tab, account);
    await page.getByRole('heading', { name: /^Connect wts on .+ to your account\?$/ }).waitFor();
    assert.equal(await page.getByLabel('Access').inputValue(), 'full-access');
    await tab.checkBarriers('connect');
    await page.getByLabel('Expires').selectOption('30');
    await tab.button('Connect').click();
    // Chromium applies the policy of the page to the redirect after the form too.
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
    await tab.checkBarriers('signed in');
    assert.equal((await login.run).code, 0, login.said());
    assert.match((await machine.wts(['whoami'])).out, /Demo Owner/);
    const isTty = { stdin: true, stdout: false, stderr: true };
    const copying = machine.start(['login', baseUrl, '--no-browser'], { more: { isTty } });
    await page.goto((await copying.address()).href);
    await tab.button('Connect').click();
    const code = await page.locator('code.token').innerText();
    await tab.checkBarriers('code to copy');
    copying.stdin.write(`${code}\r`);
    assert.equal((await copying.run).code, 0, copying.said());
    assert.match((await machine.wts(['whoami'])).out, /Demo Owner/);
    assert.deepEqual(tab.faults, []);
  });

  it('let a new person join by a mailed invitation, and say so to one who is in [workspaces.invitations.page, authentication.mail.invitation]', async () => {
    const email = `${randomUUID()}@example.com`;
    const code = await invite({ email, role: 'admin' });
    await using tab = await system.tab(await system.mailedLink(email, 'Invitation to'));
    const { page } = tab;
    assert.equal(await page.getByLabel('Email').inputValue(), email);
    await tab.checkBarriers('join by a mail');
    await page.getByLabel('Name').fill('Grace Hopper');
    await page.getByLabel('Password').fill('correct horse battery');
    await tab.button('Create account and join').click();
    await page.getByText('You are a member now, with the role admin.').waitFor();
    assert.match(await membersOf(), /Grace Hopper/);
    await page.goto(`${system.testSystem.authUrl}/join?code=${code}`);
    await page.getByRole('alert').waitFor();
    await tab.checkBarriers('join, used');
    assert.match(tab.faults.splice(0).join(), /^Failed to load resource: .* 410 \(Gone\)$/);
    await page.goto(`${system.testSystem.authUrl}/join?code=${await invite({})}`);
    await page.getByRole('heading', { name: 'You are already a member' }).waitFor();
    await page.getByText('with the role admin').waitFor();
    await tab.checkBarriers('join, a member');
    tab.assertClean();
  });

  it('confirm a new account by a mail, make an API key that works, change the password, and replace a forgotten one [authentication.mail.registration, authentication.accounts.password-change, authentication.accounts.password-reset]', async () => {
    await using tab = await system.tab('/join');
    const { page } = tab;
    await tab.checkBarriers('join');
    await page.getByLabel('Invitation code').fill(await invite({}));
    await tab.button('Continue').click();
    const account = { email: `${randomUUID()}@example.com`, password: 'correct horse battery' };
    await page.getByLabel('Name').fill('Key Maker');
    await page.getByLabel('Email').fill(account.email);
    await page.getByLabel('Password').fill(account.password);
    await tab.button('Create account and join').click();
    await page.getByRole('heading', { name: 'Look into your mail' }).waitFor();
    await page.goto(await system.mailedLink(account.email, 'Confirm your account'));
    await tab.button('Confirm').click();
    await page.getByRole('link', { name: 'Go to your account' }).click();
    await page.getByRole('heading', { name: 'Key Maker' }).waitFor();
    await tab.checkBarriers('account');
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByLabel('Name of a new key').fill('ci');
    await tab.button('Create key').click();
    const token = await page.locator('code.token').innerText();
    assert.equal(await statusOf(token), 200);
    // A reload shows the token no more and creates no second key.
    await page.reload();
    await page.getByLabel('Name of a new key').waitFor();
    assert.equal(await page.locator('code.token').count(), 0);
    const revoke = page.getByRole('link', { name: 'Revoke the key ci' });
    assert.equal(await revoke.count(), 1);
    await revoke.click();
    await page.getByRole('heading', { name: 'Revoke the key ci?' }).waitFor();
    await tab.checkBarriers('revoke a key');
    assert.equal(await statusOf(token), 200);
    await tab.button('Revoke key').click();
    await page.getByText('The API key is revoked.').waitFor();
    await eventually(async () => (await statusOf(token)) === 401 || undefined);
    await page.setViewportSize(PHONE);
    await page.getByRole('link', { name: 'Security' }).click();
    for (const current of ['wrong password', account.password]) {
      await page.getByLabel('Current password').fill(current);
      await page.getByLabel('New password').fill('another horse battery');
      await tab.button('Change password').click();
      if (current === account.password) continue;
      const alert = page.getByText('The current password is wrong.');
      await alert.waitFor();
      // Where the person looks, without a scroll.
      await eventually(async () => {
        const { y = -1, height = 0 } = (await alert.boundingBox()) ?? {};
        return y >= 0 && y + height <= PHONE.height;
      });
      assert.match(tab.faults.splice(0).join(), /^Failed to load resource: .* 422/);
    }
    await page.getByText('Your password is changed.').waitFor();
    await tab.button('Sign out').click();
    await page.getByRole('link', { name: 'Sign in again' }).waitFor();
    await tab.checkBarriers('signed out');
    await page.getByRole('link', { name: 'Sign in again' }).click();
    await signIn(tab, account);
    await page.getByText('do not match an account').waitFor();
    await tab.checkBarriers('sign-in, wrong');
    assert.match(tab.faults.splice(0).join(), /^Failed to load resource: .* 4\d\d/);
    await replacePassword(tab, account);
    await page.getByRole('heading', { name: 'Key Maker' }).waitFor();
    tab.assertClean();
  });

  it('sign in the same person as a token of the provider at the API does [authentication.provider.sign-in]', async () => {
    await using tab = await system.tab('/sign-in');
    const { page } = tab;
    await page.getByRole('link', { name: 'Sign in with Example Corp' }).click();
    await page.getByRole('heading', { name: `Person ${WEB_SUBJECT}` }).waitFor();
    await page.getByText(`${WEB_SUBJECT}@example.com`).waitFor();
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByLabel('Name of a new key').fill('from the page');
    await tab.button('Create key').click();
    await page.locator('code.token').waitFor();
    await tab.checkBarriers('new key');
    const token = await system.provider.signIn(WEB_SUBJECT);
    const { text } = await system.testSystem.request(token, 'GET', '/api/auth/keys');
    assert.match(text, /from the page/);
  });

  describe('about second factors', () => factorTests(() => system));
});
