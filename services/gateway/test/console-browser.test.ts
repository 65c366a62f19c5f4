import { eventually, freePort, openBrowser } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { PREFIX, startPrefixProxy } from './prefix-proxy.ts';
import { startTestGateway } from './test-gateway.ts';

describe('the webhooks console in a browser (skipped where there is no Chromium)', function page() {
  it('works under a path prefix, also when it is opened with a slash behind it [console.page]', async function prefixed() {
    await using stack = new AsyncDisposableStack();
    const browser = await openBrowser(this);
    stack.defer(() => browser.close());
    const gateway = await startTestGateway();
    stack.defer(() => gateway.close());
    const port = await freePort();
    const proxy = await startPrefixProxy(port, gateway.api);
    stack.defer(() => {
      proxy.closeAllConnections();
      proxy.close();
    });
    const workspaces = [{ id: randomUUID(), name: 'Prefixed', urlKey: 'prefixed' }];
    gateway.workspace.answer = (_req, res) => res.end(JSON.stringify({ workspaces }));

    const prefixed = await browser.newPage();
    const requested: string[] = [];
    prefixed.on('request', (request) => requested.push(request.url()));
    const base = `http://127.0.0.1:${port}${PREFIX}/`;
    await prefixed.goto(`${base}console/`);
    assert.equal(prefixed.url(), `${base}console`);
    await prefixed.getByLabel('API key').fill(gateway.fullKey);
    await prefixed.getByRole('button', { name: 'Open' }).click();
    // The page shows the list before it has chosen from it.
    await eventually(async () => (await prefixed.getByLabel('Workspace').inputValue()) === workspaces[0]?.id);
    await eventually(() => requested.some((url) => url.includes('/api/webhooks?')));
    for (const url of requested) assert.ok(url.startsWith(base) || url === 'data:,', url);
    assert.equal(gateway.workspace.last.url, '/api/workspaces');
  });
});
