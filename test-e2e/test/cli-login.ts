import { runWts, type TestRun, type TestRunOptions } from '@wts/cli/test-run';
import { eventually, hiddenOf, scratch, TestBrowser, type Answer, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';

const PAGE = /https?:\/\/\S+\/account\/connect\?\S+/;

/** A command that runs until a person answers on a page. */
export interface Running {
  readonly run: Promise<TestRun>;
  /** What it has written to stderr. */
  readonly said: () => string;
  /** The address that it printed. */
  readonly address: () => Promise<URL>;
  readonly stdin: PassThrough;
  readonly interrupt: () => void;
}

/** A machine of a person: the files of the tool, and a browser. */
export class Machine {
  readonly folder = scratch('wts');
  readonly browser: TestBrowser;
  readonly #system: TestSystem;

  constructor(system: TestSystem) {
    this.#system = system;
    this.browser = new TestBrowser({ url: system.authUrl, issuer: system.authUrl });
  }

  get env(): Readonly<Record<string, string>> {
    return { WTS_CONFIG_DIR: this.folder, WTS_CREDENTIAL_STORE: 'file', HOME: this.folder };
  }

  wts(argv: readonly string[], { env = {}, ...options }: TestRunOptions = {}): Promise<TestRun> {
    return runWts(argv, { env: { ...this.env, ...env }, ...options });
  }

  start(argv: readonly string[], { env = {}, more = {}, ...options }: TestRunOptions = {}): Running {
    const [stderr, stdin, interrupting] = [new PassThrough(), new PassThrough(), new AbortController()];
    let said = '';
    stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const run = runWts(argv, {
      env: { ...this.env, ...env },
      ...options,
      more: { stderr, stdin, interrupted: interrupting.signal, ...more },
    });
    return {
      run,
      said: () => said,
      address: async () => new URL(await eventually(() => PAGE.exec(said)?.[0])),
      stdin,
      interrupt: () => interrupting.abort(),
    };
  }

  /** The person signs in if needed and answers on the page. */
  async answer(address: URL, fields: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const { account, authUrl } = this.#system;
    const path = address.href.slice(authUrl.length);
    if ((await this.browser.get('/account')).to !== null) await this.browser.submit('/sign-in', { ...account });
    const page = await this.browser.open(path);
    return this.browser.post('/account/connect/decision', { ...hiddenOf(page), decision: 'allow', ...fields });
  }

  /** Signs in by the page, and returns what the browser shows at the end. */
  async login(
    argv: readonly string[] = [],
    fields: Readonly<Record<string, string>> = {},
  ): Promise<TestRun & { page: string }> {
    const login = this.start(['login', this.#system.baseUrl, ...argv]);
    const { to } = await this.answer(await login.address(), { access: 'full-access', ...fields });
    const page = await (await fetch(to!)).text();
    const ended = await login.run;
    assert.equal(ended.code, 0, login.said());
    return { ...ended, err: login.said(), page };
  }
}
