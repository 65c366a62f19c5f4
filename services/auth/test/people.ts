import { randomUUID } from 'node:crypto';
import { PasswordHashes } from '../src/accounts/password-hashes.ts';
import { TestBrowser } from '@wts/testkit';
import { openTestService, TEST_COST_LOG2, type TestService } from './test-service.ts';

const ISSUER = 'https://auth.example';
const PASSWORD = 'correct horse battery';

export interface TestAccount {
  readonly id: string;
  readonly email: string;
  readonly password: string;
}

let networks = 0;

/** The pages of an auth service, with accounts and browsers. */
export class TestPages {
  readonly testService: TestService;
  readonly issuer: string;

  constructor(testService: TestService, issuer: string) {
    this.testService = testService;
    this.issuer = issuer;
  }

  /** A browser in a network of its own. */
  browser(network = `10.0.0.${(networks += 1)}`, headers: Readonly<Record<string, string>> = {}): TestBrowser {
    return new TestBrowser({
      url: this.testService.service.url,
      issuer: this.issuer,
      headers: { 'x-wts-network': network, ...headers },
    });
  }

  async account(password = PASSWORD, emailVerified = false): Promise<TestAccount> {
    const id = randomUUID();
    const email = `${id}@example.com`;
    const hashes = new PasswordHashes(TEST_COST_LOG2);
    const hash = await hashes.hash(password, { network: '', signal: AbortSignal.timeout(10_000) });
    await this.testService.backends.sql(
      `insert into auth.accounts (id, email, shown_email, name, email_verified, password_hash) values ($1, $2, $2, $3, $4, $5)`,
      [id, email, 'Ada Lovelace', emailVerified, hash],
    );
    return { id, email, password };
  }

  async signedIn(account?: TestAccount): Promise<{ browser: TestBrowser; account: TestAccount }> {
    const who = account ?? (await this.account());
    const browser = this.browser();
    const answer = await browser.submit('/sign-in', { email: who.email, password: who.password });
    if (answer.status !== 303) throw new Error(`the sign-in answered ${answer.status}: ${answer.text}`);
    return { browser, account: who };
  }
}

/** A service of its own with these settings; the caller closes it. */
export async function openTestPages(settings: Record<string, string> = {}): Promise<TestPages> {
  const shared = await openTestService();
  const testService = await shared.replica({ AUTH_URL: ISSUER, ...settings });
  return new TestPages(testService, settings['AUTH_URL'] ?? ISSUER);
}
