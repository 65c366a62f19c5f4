import { hiddenOf, type Answer, type TestBrowser } from '@wts/testkit';
import assert from 'node:assert/strict';
import { totpCode } from '../src/domain/totp.ts';
import { TestAuthenticator } from './authenticator.ts';
import type { TestAccount, TestPages } from './people.ts';

type Options = Parameters<TestAuthenticator['get']>[0];

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** What the script of a page passes to the browser. */
export function optionsOf(page: Answer, kind: 'create' | 'get'): Options {
  const found = new RegExp(`data-passkey="${kind}"\\s+data-field="\\w+"\\s+data-options="([^"]*)"`).exec(page.text);
  assert.ok(found?.[1], `no button for a passkey on: ${page.status} ${page.text.slice(0, 3000)}`);
  return JSON.parse(found[1].replaceAll('&quot;', '"').replaceAll('&amp;', '&')) as Options;
}

export function recoveryCodesOf({ text }: Answer): string[] {
  return [...text.matchAll(/<code>([a-z2-7-]{19})<\/code>/g)].map(([, code = '']) => code);
}

/** Adds a passkey to the account of a browser that is signed in. */
export async function addPasskey(
  pages: TestPages,
  browser: TestBrowser,
  authenticator = new TestAuthenticator(pages.issuer),
  from = '/account/security',
): Promise<{ authenticator: TestAuthenticator; answer: Answer }> {
  const page = await browser.open(from);
  const passkey = authenticator.create(optionsOf(page, 'create'));
  const fields = { ...hiddenOf(page, '/account/passkeys'), passkey, name: 'Laptop' };
  return { authenticator, answer: await browser.post('/account/passkeys', fields) };
}

/** An authenticator app of an account. */
export interface TestApp {
  readonly secret: Buffer;
  readonly answer: Answer;
}

export async function addApp(browser: TestBrowser, from = '/account/security'): Promise<TestApp> {
  const begun = await browser.submit(from, {}, '/account/totp');
  assert.equal(begun.status, 303, begun.text);
  const page = await browser.get(`${begun.to?.pathname}${begun.to?.search}`);
  const key = /<code class="token">([A-Z2-7 ]+)<\/code>/.exec(page.text)?.[1]?.replaceAll(' ', '') ?? '';
  const bits = [...key].map((one) => ALPHABET.indexOf(one).toString(2).padStart(5, '0')).join('');
  const secret = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const code = totpCode(secret, stepNow());
  const answer = await browser.post('/account/totp/confirm', { ...hiddenOf(page, '/account/totp/confirm'), code });
  return { secret, answer };
}

export function stepNow(): number {
  return Math.floor(Date.now() / 30_000);
}

/** A code of this moment, which no one has used. */
export async function freshCode(pages: TestPages, { id }: TestAccount, { secret }: TestApp): Promise<string> {
  await pages.testService.backends.sql(`update auth.totp set last_step = 0 where account_id = $1`, [id]);
  return totpCode(secret, stepNow());
}

/** The page of the second step, after a right password. */
export async function secondStep(browser: TestBrowser, { email, password }: TestAccount): Promise<Answer> {
  const answer = await browser.submit('/sign-in', { email, password });
  assert.equal(answer.status, 303, answer.text);
  assert.match(answer.to?.pathname ?? '', /^\/sign-in\/factor$/);
  return browser.get(`${answer.to?.pathname}${answer.to?.search}`);
}

/** Sends the form of the second step. */
export function present(browser: TestBrowser, page: Answer, fields: Record<string, string>): Promise<Answer> {
  return browser.post('/sign-in/factor', { ...hiddenOf(page, '/sign-in/factor'), ...fields });
}
