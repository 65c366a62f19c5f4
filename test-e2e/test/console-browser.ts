import type { Page, Receiver, TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Browser, BrowserSystem } from './browser-system.ts';

/** Long, because a browser is slow on a busy machine. */
const WAIT_MS = 120_000;
/** Timers of the page end after a quarter of their time, because it reads again every three to ten seconds. */
const FAST_TIMERS = `{ const { setTimeout } = window; window.setTimeout = (run, ms) => setTimeout(run, ms / 4); }`;
const WIDE = { width: 1280, height: 900 };
const ALL_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The small form: half as long to send and to compile, for each page. */
const AXE = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const VISUAL_RULES = ['color-contrast', 'scrollable-region-focusable', 'target-size'];
export const PHONE = { width: 390, height: 844 };

/** The webhooks console of a whole system in a real browser, and an HTTPS server that receives deliveries. */
export class ConsoleBrowser {
  readonly testSystem: TestSystem;
  readonly receiver: Receiver;
  readonly #browser: Browser;

  constructor({ testSystem, consumer, browser }: BrowserSystem) {
    this.testSystem = testSystem;
    this.receiver = consumer;
    this.#browser = browser;
  }

  /** A page in a profile of its own. */
  async tab(options: TabOptions = {}): Promise<Tab> {
    return Tab.open(this.#browser, this.testSystem.baseUrl, '/console', { ...options, script: FAST_TIMERS });
  }

  /** A page after a key was entered. */
  async signedIn(options: TabOptions = {}): Promise<Tab> {
    const tab = await this.tab(options);
    await tab.enterKey(this.testSystem.apiKey);
    await tab.page.getByRole('heading', { name: 'Endpoints', exact: true }).waitFor();
    return tab;
  }

  /** A page at an endpoint of the demo workspace. */
  async at(endpointId: string, options: TabOptions = {}): Promise<Tab> {
    const tab = await this.signedIn(options);
    await tab.openEndpoint(this.testSystem.workspaceId, endpointId);
    return tab;
  }

  /** Creates an endpoint by the API. Returns its id. */
  async endpoint(description: string, path = '/hook'): Promise<string> {
    const body = { url: `${this.receiver.url}${path}`, workspaceId: this.testSystem.workspaceId, description };
    const { status, text } = await this.testSystem.request(this.testSystem.apiKey, 'POST', '/api/webhooks', { body });
    assert.equal(status, 201, text);
    return (JSON.parse(text) as { endpoint: { id: string } }).endpoint.id;
  }

  /** Creates tasks in the demo workspace. */
  async createTasks(amount: number): Promise<void> {
    const { workspaceId } = this.testSystem;
    const mutations = Array.from({ length: amount }, (_, index) => ({
      modelName: 'Task' as const,
      modelId: randomUUID(),
      action: 'INSERT' as const,
      payload: { workspaceId, title: `Task ${index}` },
    }));
    await this.testSystem.commit(mutations);
  }
}

interface TabOptions {
  readonly viewport?: { readonly width: number; readonly height: number };
}

export class Tab implements AsyncDisposable {
  readonly page: Page;
  /** What the browser reported: violations of policies, failed loads, thrown errors. */
  readonly faults: string[] = [];
  readonly requested: string[] = [];
  readonly #baseUrl: string;

  /** At a path of its origin, or at another address. The script runs before those of each page. */
  static async open(
    browser: Browser,
    baseUrl: string,
    address: string,
    { viewport = WIDE, script = '' }: TabOptions & { readonly script?: string } = {},
  ): Promise<Tab> {
    const profile = await browser.newContext({ viewport, reducedMotion: 'reduce' });
    profile.setDefaultTimeout(WAIT_MS);
    await profile.addInitScript({ content: script });
    return Tab.#at(profile, baseUrl, address);
  }

  static async #at(profile: ReturnType<Page['context']>, baseUrl: string, address: string): Promise<Tab> {
    const tab = new Tab(await profile.newPage(), baseUrl);
    await tab.page.goto(new URL(address, baseUrl).href);
    return tab;
  }

  /** Another page of the same profile. */
  beside(address: string): Promise<Tab> {
    return Tab.#at(this.page.context(), this.#baseUrl, address);
  }

  private constructor(page: Page, baseUrl: string) {
    this.page = page;
    this.#baseUrl = baseUrl;
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.faults.push(message.text());
    });
    page.on('pageerror', (error) => this.faults.push(String(error)));
    page.on('request', (request) => this.requested.push(request.url()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close();
  }

  async enterKey(key: string): Promise<void> {
    await this.page.getByLabel('API key').fill(key);
    await this.page.getByRole('button', { name: 'Open' }).click();
  }

  async openEndpoint(workspaceId: string, endpointId: string): Promise<void> {
    await this.run(`location.hash = '#/${workspaceId}/${endpointId}'`);
    await this.page.getByRole('heading', { name: 'Deliveries' }).waitFor();
  }

  button(name: string | RegExp): ReturnType<Page['getByRole']> {
    return this.page.getByRole('button', { name, exact: true });
  }

  /** Runs a program in the page beside its policy, which forbids to run texts. */
  async run<T>(program: string): Promise<T> {
    const session = await this.page.context().newCDPSession(this.page);
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression: program,
      awaitPromise: true,
      returnByValue: true,
    });
    await session.detach();
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description);
    return result.value as T;
  }

  /**
   * Asserts that axe finds nothing on the page as it is now, and that it is not wider than the screen: dark on a phone, then, by the rules
   * about colors and sizes alone, light and wide, because only these depend on either. TEST_PICTURES names a folder for pictures.
   */
  async checkBarriers(what: string): Promise<void> {
    const folder = process.env['TEST_PICTURES'];
    for (const [colorScheme, viewport, rules] of [
      ['dark', PHONE, ALL_RULES],
      ['light', WIDE, VISUAL_RULES],
    ] as const) {
      await this.page.emulateMedia({ colorScheme });
      await this.page.setViewportSize(viewport);
      assert.deepEqual(await this.#findBarriers(rules), [], `${what}, ${colorScheme}`);
      assert.equal(await this.run('document.documentElement.scrollWidth'), viewport.width, `${what}, ${colorScheme}`);
      const name = `${what}-${colorScheme}`.replaceAll(/[^a-z0-9]+/gi, '-');
      if (folder !== undefined) await this.page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
    }
  }

  async #findBarriers(rules: readonly string[]): Promise<string[]> {
    type Violations = { id: string; nodes: { target: string[]; failureSummary: string }[] }[];
    // Only here, because the browser takes longer to compile it than to load most pages.
    if (!(await this.run<boolean>(`'axe' in window`))) await this.run(AXE);
    const options = JSON.stringify({ runOnly: rules });
    const violations = await this.run<Violations>(`axe.run(document, ${options}).then(({ violations }) => violations)`);
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    );
  }

  /** The page loaded from and called its own origin only, kept its policy, and failed nowhere. */
  assertClean(): void {
    assert.deepEqual(this.faults, []);
    for (const url of this.requested) assert.ok(url.startsWith(`${this.#baseUrl}/`) || url === 'data:,', url);
  }
}
