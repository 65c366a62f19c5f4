import { eventually, openBrowser } from '@wts/testkit';
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import type { Browser } from './browser-system.ts';
import type { Tab } from './console-browser.ts';
import { signIn, type PeopleBrowser } from './people-browser.ts';

interface Account {
  readonly email: string;
  readonly password: string;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Second factors in a real browser, with an authenticator that DevTools simulates. */
export function factorTests(systemOf: () => PeopleBrowser): void {
  let browser: Browser;
  // A browser for each test, because one browser for all tests was seen to end after a few simulated authenticators.
  beforeEach(async function open() {
    browser = await openBrowser(this);
  });
  afterEach(() => browser?.close());
  const passkeyBrowser = () => browser;

  passkeyTest(systemOf, passkeyBrowser);
  requirementTest(systemOf, passkeyBrowser);
}

function passkeyTest(systemOf: () => PeopleBrowser, passkeyBrowser: () => Browser): void {
  it('add a passkey, which signs in alone and is asked for after a password [authentication.passkeys.sign-in, authentication.factors.second-step]', async () => {
    const { tab: opened, account } = await newPerson(systemOf(), passkeyBrowser());
    await using tab = opened;
    const { page } = tab;
    await tab.checkBarriers('security without a factor');
    const authenticator = await Authenticator.add(tab);
    await addPasskey(tab);
    await page.getByRole('link', { name: 'I have saved them' }).click();
    await page.getByRole('link', { name: 'Remove Laptop' }).waitFor();
    // The browser offers it in the field for the email, which the simulated person takes at once.
    await signOut(tab);
    await page.getByRole('heading', { name: 'Factor Owner' }).waitFor();
    await authenticator.answer(false);
    await signOut(tab);
    await tab.button('Sign in with a passkey').waitFor();
    await authenticator.answer(true);
    await tab.button('Sign in with a passkey').click();
    await page.getByRole('heading', { name: 'Factor Owner' }).waitFor();
    // Not without the person verified.
    await authenticator.verify(false);
    await signOut(tab);
    await tab.button('Sign in with a passkey').click();
    await page.getByText('No passkey was used. Try again.').waitFor();
    await authenticator.verify(true);
    await authenticator.answer(false);
    await signIn(tab, account);
    await authenticator.answer(true);
    await tab.button('Use a passkey').click();
    await page.getByRole('heading', { name: 'Factor Owner' }).waitFor();
    // Each check ends the simulation.
    await page.goto(`${systemOf().testSystem.authUrl}/account/security`);
    await tab.checkBarriers('security with a factor');
    await page.getByRole('link', { name: 'Remove Laptop' }).click();
    await tab.button('Remove').waitFor();
    await tab.checkBarriers('remove a factor');
    await page.goto(`${systemOf().testSystem.authUrl}/account`);
    await signOut(tab);
    await signIn(tab, account);
    await page.getByRole('heading', { name: 'Confirm it is you' }).waitFor();
    await tab.checkBarriers('second step');
    await page.getByText('Another way').click();
    await tab.checkBarriers('second step, another way');
    tab.assertClean();
  });
}

function requirementTest(systemOf: () => PeopleBrowser, passkeyBrowser: () => Browser): void {
  it('are required by a workspace: who has none keeps only the page that adds one, by the keyboard alone, and no key or socket works until then [authentication.factors.workspace, authentication.factors.required]', async () => {
    const { testSystem } = systemOf();
    const owner = await newPerson(systemOf(), passkeyBrowser());
    await using ownerTab = owner.tab;
    await Authenticator.add(ownerTab);
    await addPasskey(ownerTab);
    await ownerTab.checkBarriers('recovery codes');
    const ownerKey = await newKey(systemOf(), ownerTab);
    const send = (key: string, method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) =>
      testSystem.request(key, method, path, body === undefined ? {} : { body });
    const { id } = await testSystem.workspaceOf({ token: ownerKey });
    const invitation = await send(ownerKey, 'POST', `/api/workspaces/${id}/invitations`, {});
    const { code } = (JSON.parse(invitation.text) as { invitation: { code: string } }).invitation;
    const member = await newPerson(systemOf());
    await using tab = member.tab;
    const key = await newKey(systemOf(), tab);
    const join = async (): Promise<number> => (await send(key, 'POST', '/api/workspaces/join', { code })).status;
    const require = async (requireSecondFactor: boolean): Promise<void> => {
      const policy = await send(ownerKey, 'PATCH', `/api/workspaces/${id}/security`, { requireSecondFactor });
      assert.equal(policy.status, 200, policy.text);
    };
    await require(true);
    assert.equal(await join(), 403);
    await require(false);
    assert.equal(await join(), 200);
    await using socket = await testSystem.socket({ token: key });
    await require(true);
    await socket.until(({ ended }) => ended() !== null);
    const refused = await send(key, 'GET', '/api/workspaces');
    assert.equal(refused.status, 403, refused.text);
    assert.match(refused.text, /second_factor_required/);
    const { page } = tab;
    await page.goto(`${testSystem.authUrl}/account`);
    await signIn(tab, member.account);
    await page.getByRole('heading', { name: 'Add a second factor' }).waitFor();
    await tab.checkBarriers('add a second factor');
    await tab.button('Set up an authenticator app').click();
    await page.getByRole('img', { name: 'QR code with the key below' }).waitFor();
    await tab.checkBarriers('authenticator app');
    await page.keyboard.type(codeOf(await page.locator('code.token').innerText()));
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'I have saved them' }).click();
    await page.getByRole('heading', { name: 'Second factor' }).waitFor();
    await eventually(async () => (await send(key, 'GET', '/api/workspaces')).status === 200 || undefined);
  });
}

/** A new person who is signed in, at the page about security. */
async function newPerson(system: PeopleBrowser, browser?: Browser): Promise<{ tab: Tab; account: Account }> {
  const { apiKey, workspaceId, authUrl } = system.testSystem;
  const account = { email: `${randomUUID()}@example.com`, password: 'correct horse battery' };
  const { email } = account;
  await system.testSystem.request(apiKey, 'POST', `/api/workspaces/${workspaceId}/invitations`, { body: { email } });
  const tab = await system.tab(await system.mailedLink(email, 'Invitation to'), browser);
  const { page } = tab;
  await page.getByLabel('Name').fill('Factor Owner');
  await page.getByLabel('Password').fill(account.password);
  await tab.button('Create account and join').click();
  await page.getByRole('link', { name: 'Go to your account' }).waitFor();
  await page.goto(`${authUrl}/account/security`);
  return { tab, account };
}

async function addPasskey(tab: Tab): Promise<void> {
  await tab.page.getByLabel('Name of a new passkey').fill('Laptop');
  await tab.button('Add a passkey').click();
  await tab.page.getByRole('heading', { name: 'Keep your recovery codes' }).waitFor();
  assert.equal(await tab.page.locator('ul.codes code').count(), 10);
}

async function newKey(system: PeopleBrowser, { page }: Tab): Promise<string> {
  await page.goto(`${system.testSystem.authUrl}/account/keys`);
  await page.getByLabel('Name of a new key').fill('ci');
  await page.getByLabel('Access').selectOption('full-access');
  await page.getByRole('button', { name: 'Create key' }).click();
  return page.locator('code.token').innerText();
}

async function signOut(tab: Tab): Promise<void> {
  await tab.button('Sign out').click();
  await tab.page.getByRole('link', { name: 'Sign in again' }).click();
}

/** A simulated authenticator in a device, which its person confirms at once. */
class Authenticator {
  readonly #session: Awaited<ReturnType<typeof sessionOf>>;
  readonly #authenticatorId: string;

  private constructor(session: Awaited<ReturnType<typeof sessionOf>>, authenticatorId: string) {
    this.#session = session;
    this.#authenticatorId = authenticatorId;
  }

  static async add(tab: Tab): Promise<Authenticator> {
    const session = await sessionOf(tab);
    // Without dialogs of the browser.
    await session.send('WebAuthn.enable', { enableUI: false });
    const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    return new Authenticator(session, authenticatorId);
  }

  /** Whether the person confirms at once, or never. */
  async answer(enabled: boolean): Promise<void> {
    const authenticatorId = this.#authenticatorId;
    await this.#session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
  }

  async verify(isUserVerified: boolean): Promise<void> {
    const authenticatorId = this.#authenticatorId;
    await this.#session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
  }
}

const sessionOf = ({ page }: Tab) => page.context().newCDPSession(page);

/** The code of an authenticator app at this moment (RFC 6238). */
function codeOf(key: string): string {
  const bits = [...key.replaceAll(' ', '')].map((one) => ALPHABET.indexOf(one).toString(2).padStart(5, '0')).join('');
  const secret = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const number = mac.readUInt32BE(mac.readUInt8(mac.length - 1) & 15) & 0x7fff_ffff;
  return String(number % 1_000_000).padStart(6, '0');
}
