import { hiddenOf, TestBrowser, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';

interface Account {
  readonly email: string;
  readonly password: string;
}

const PASSWORD = 'correct horse battery';

/** A person in a network of their own, who uses the pages of `{auth_url}` as a browser does. */
export class Person {
  /** Of all their requests, as a proxy in front of the system passes it on. */
  readonly network: Readonly<Record<string, string>>;
  readonly #authUrl: string;
  #account: Account;

  constructor(authUrl: string, account: Account, index = 0) {
    this.#authUrl = authUrl;
    this.#account = account;
    this.network = { 'x-forwarded-for': `10.0.${index >> 8}.${index & 255}` };
  }

  /** Creates an account and joins the workspace of the invitation. */
  static async join({ authUrl }: TestSystem, code: string, index: number): Promise<Person> {
    const account = { email: `person-${index}@example.com`, password: PASSWORD };
    const person = new Person(authUrl, account, index);
    const answer = await person.#browser().submit(`/join?code=${code}`, { name: `Person ${index}`, ...account });
    assert.equal(answer.status, 200, answer.text);
    return person;
  }

  /** Signs in and allows what an app asks for. Returns the address to which the browser is sent back. */
  async allow({ pathname, search }: URL): Promise<URL> {
    const browser = this.#browser();
    const page = await browser.open(`${pathname}${search}`);
    const { to: consent } = await browser.post('/sign-in', { ...hiddenOf(page), ...this.#account });
    assert.ok(consent, 'the sign-in leads to the consent');
    const { to, text } = await browser.submit(`${consent.pathname}${consent.search}`, { decision: 'allow' });
    assert.ok(to, text);
    return to;
  }

  #browser(): TestBrowser {
    return new TestBrowser({ url: this.#authUrl, issuer: this.#authUrl, headers: this.network });
  }
}
