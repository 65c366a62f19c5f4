import { eventually, freePort, openBrowser, type Page } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { PREFIX, startPrefixProxy } from './prefix-proxy.ts';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

/** A page, the URLs it loaded, and the errors the browser reported. */
interface Watched {
  readonly page: Page;
  readonly loaded: Set<string>;
  readonly faults: string[];
}

/** Long, because a browser is slow on a busy machine. */
const WAIT_MS = 120_000;

describe('the pages of the gateway in a browser (skipped where there is no Chromium)', function page() {
  let browser: Awaited<ReturnType<typeof openBrowser>> | undefined;
  let testGateway: TestGateway;
  let proxy: Server;
  /** The address behind a proxy that removes the prefix: neither its host nor its prefix is that of the description. */
  let outside: string;
  /** Takes seconds of a processor. */
  let opened: Watched;

  before(async function start() {
    browser = await openBrowser(this);
    const port = await freePort();
    outside = `http://localhost:${port}${PREFIX}`;
    testGateway = await startTestGateway({ BASE_URL: `http://127.0.0.1:${port}/elsewhere` });
    proxy = await startPrefixProxy(port, testGateway.api);
    opened = await open('/docs');
  });
  after(async () => {
    if (browser === undefined) return;
    await browser.close();
    proxy.closeAllConnections();
    proxy.close();
    await testGateway.close();
  });

  const open = async (path: string): Promise<Watched> => {
    const page = await browser!.newPage();
    page.setDefaultTimeout(WAIT_MS);
    const watched = { page, loaded: new Set<string>(), faults: [] as string[] };
    // The browser reports policy violations, failed loads and thrown errors here.
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) watched.faults.push(message.text());
    });
    page.on('pageerror', (error) => watched.faults.push(String(error)));
    page.on('request', (request) => watched.loaded.add(request.url()));
    await page.goto(`${outside}${path}`);
    return watched;
  };

  const assertClosed = (): void => {
    for (const url of opened.loaded) assert.ok(url.startsWith(`${outside}/`) || url.startsWith('data:'), url);
    assert.deepEqual(opened.faults, []);
  };

  it('are a reference that shows every operation, keeps its Content-Security-Policy and calls no other origin [meta.docs.page, meta.docs.closed]', async () => {
    const { page } = opened;
    const description = (await (await fetch(`${outside}/openapi.json`)).json()) as {
      info: { title: string };
      paths: Record<string, Record<string, { summary: string }>>;
    };
    const operations = Object.values(description.paths).flatMap((path) => Object.values(path));
    await page
      .locator('.opblock')
      .nth(operations.length - 1)
      .waitFor();
    const shown = await page.locator('.opblock-summary-description').allInnerTexts();
    assert.deepEqual(shown.toSorted(), operations.map(({ summary }) => summary).toSorted());
    assert.ok((await page.locator('.info .title').innerText()).startsWith(description.info.title));
    assertClosed();
  });

  it('are a reference that tries an operation out at the host and prefix it was opened at, with an entered credential, and stores nothing', async () => {
    const { page } = opened;
    testGateway.workspace.reset();
    await page.locator('.btn.authorize').click();
    await page.locator('.auth-container input').fill(testGateway.readKey);
    await page.locator('.auth-btn-wrapper .authorize').click();
    await page.locator('.auth-btn-wrapper .btn-done').click();
    const operation = page.locator('#operations-Workspaces-listWorkspaces');
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('.try-out__btn').click();
    await operation.locator('.execute').click();
    const answer = operation.locator('.live-responses-table');
    await answer.locator('.response-col_status').last().waitFor();
    assert.match(await answer.innerText(), /\b200\b/);
    assert.equal(testGateway.workspace.last.url, '/api/workspaces');
    assert.notEqual(testGateway.workspace.last.principal, null);
    assertClosed();
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');
    assert.equal(kept, '[{},{},""]');
  });

  it('are a reference that is dark where the browser prefers that, fits a phone, finds operations by any word in them, and draws all of one from its own origin [meta.docs.closed]', async () => {
    const { page } = opened;
    assert.equal(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(250, 250, 250)');
    await page.emulateMedia({ colorScheme: 'dark' });
    // The polling of waitForFunction is code from a string, which the policy of the page forbids.
    const becomesTrue = (code: string) => eventually(() => page.evaluate(code), { deadlineMs: WAIT_MS });
    await becomesTrue(`getComputedStyle(document.body).backgroundColor === 'rgb(18, 20, 25)'`);
    await page.setViewportSize({ width: 390, height: 844 });
    const operation = page.locator('#operations-Sync-syncMutate');
    await operation.locator('.opblock-summary-control').click();
    // Swagger UI draws schemas, examples and errors when an operation is unfolded.
    await operation.locator('.responses-table').first().waitFor();
    assertClosed();
    await becomesTrue('document.documentElement.scrollWidth === 390');
    await page.locator('.operation-filter-input').fill('create a TASK');
    await page.locator('#operations-Workspaces-listWorkspaces').waitFor({ state: 'detached' });
    await eventually(async () => (await page.locator('.opblock').count()) === 1);
    assert.equal(await operation.count(), 1);
  });

  it('are a webhooks console under a path prefix, also when it is opened with a slash behind it [console.page]', async () => {
    const workspaces = [{ id: randomUUID(), name: 'Prefixed', urlKey: 'prefixed' }];
    testGateway.workspace.answer = (_req, res) => res.end(JSON.stringify({ workspaces }));
    const { page, loaded } = await open('/console/');
    assert.equal(page.url(), `${outside}/console`);
    await page.getByLabel('API key').fill(testGateway.fullKey);
    await page.getByRole('button', { name: 'Open' }).click();
    // The page shows the list before it has chosen from it.
    await eventually(async () => (await page.getByLabel('Workspace').inputValue()) === workspaces[0]?.id);
    await eventually(() => [...loaded].some((url) => url.includes('/api/webhooks?')));
    for (const url of loaded) assert.ok(url.startsWith(`${outside}/`) || url === 'data:,', url);
    assert.equal(testGateway.workspace.last.url, '/api/workspaces');
  });
});
