import { eventually, type Received } from '@wts/testkit';
import assert from 'node:assert/strict';
import { browserSystem } from './browser-system.ts';
import { ConsoleBrowser, PHONE } from './console-browser.ts';
import { runProgram } from './receiver-program.ts';

const SECRET = /^whsec_[\w+/]+=*$/;
/** Reorders text, hides text, breaks lines, closes elements, and is a program when something parses it. */
const HOSTILE =
  '\u202Egpj.exe\u2066 <img src=x onerror="document.title=\'owned\'"><b>bold</b>\u0007\u200B\u{E0041}</pre>';

describe('the webhooks console, which has no barrier that axe finds, also dark and on a phone (skipped where there is no Chromium)', function page() {
  let system: ConsoleBrowser;

  before(async function start() {
    system = new ConsoleBrowser(await browserSystem(this));
  });
  beforeEach(() => system.receiver.answer({ status: 204 }));

  const remove = (id: string) => system.testSystem.request(system.testSystem.apiKey, 'DELETE', `/api/webhooks/${id}`);

  /** The newest request of the receiver about this endpoint. */
  const newest = (endpointUrlPath: string): Received | undefined =>
    system.receiver.received.findLast(({ path }) => path === endpointUrlPath);

  it('leads from a new endpoint to its deliveries, its rotated secret and its end [console.page, console.page.closed]', async () => {
    await using tab = await system.tab();
    const { page } = tab;
    await tab.checkBarriers('sign-in');
    await tab.enterKey(system.testSystem.apiKey);
    system.receiver.answer({ status: 500, body: 'out of order' });
    await tab.button('New endpoint').click();
    await page.getByLabel('comment.deleted').waitFor();
    await tab.checkBarriers('new endpoint');
    await page.getByLabel('URL').fill(`${system.receiver.url}/flow`);
    await page.getByLabel('Description').fill('Deploy board');
    await page.getByLabel('task.created').check();
    await tab.button('Create endpoint').click();

    const secret = await page.getByRole('textbox', { name: 'Signing secret' }).inputValue();
    assert.match(secret, SECRET);
    await tab.checkBarriers('secret');
    await tab.button('I have stored the secret').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.ok(!(await page.content()).includes(secret), 'the secret is still in the page');

    await tab.button('Send test event').click();
    await page.getByText('The test event is queued.').waitFor();
    const entry = page.getByRole('link', { name: 'endpoint.test' });
    await entry.filter({ hasText: 'Failed' }).waitFor();
    await entry.click();
    const detail = page.getByRole('region', { name: 'endpoint.test' });
    await detail.getByText('HTTP 500').nth(7).waitFor();
    assert.equal(await detail.getByText('out of order').count(), 8);
    await detail.getByText('None: it failed after 8 attempts').waitFor();
    const payload = JSON.parse(await page.getByLabel('Payload', { exact: true }).innerText()) as { type: string };
    assert.equal(payload.type, 'endpoint.test');
    await page.getByText('8 attempts failed since the last success').waitFor();
    await page.getByLabel('Answer to attempt 8').waitFor();
    await tab.checkBarriers('delivery');

    system.receiver.answer({ status: 200, body: 'repaired' });
    await tab.button('Retry now').click();
    await detail.getByText('repaired').waitFor();
    await entry.filter({ hasText: 'Succeeded' }).waitFor();
    const ids = system.receiver.received
      .filter(({ path }) => path === '/flow')
      .map(({ headers }) => headers['webhook-id']);
    assert.deepEqual([ids.length, new Set(ids).size], [9, 1]);

    await tab.button('Rotate secret…').click();
    await tab.checkBarriers('rotate');
    await tab.button('Rotate secret').click();
    const rotated = await page.getByRole('textbox', { name: 'Signing secret' }).inputValue();
    assert.match(rotated, SECRET);
    assert.notEqual(rotated, secret);
    await tab.button('I have stored the secret').click();

    await tab.button('Disable').click();
    await page.getByText('A person disabled it.').waitFor();
    await tab.checkBarriers('disabled');
    await tab.button('Send test event').waitFor({ state: 'hidden' });
    await tab.button('Enable').click();
    await page.getByText('The endpoint is enabled.').waitFor();
    await tab.button('Send test event').waitFor();

    await tab.button('Delete…').click();
    await tab.button('Cancel').click();
    await tab.button('Delete…').click();
    await tab.button('Delete endpoint').click();
    await page.getByText('No endpoints yet.').waitFor();
    tab.assertClean();
  });

  it('edits the URL, the description and the event types of an endpoint', async () => {
    const id = await system.endpoint('Before the edit');
    await using tab = await system.signedIn();
    const { page } = tab;
    await page.getByText('Before the edit').waitFor();
    await tab.checkBarriers('endpoints');
    await tab.openEndpoint(system.testSystem.workspaceId, id);
    await tab.button('Edit…').click();
    await page.getByLabel('comment.deleted').waitFor();
    await tab.checkBarriers('edit');
    assert.equal(await page.getByLabel('URL').inputValue(), `${system.receiver.url}/hook`);
    assert.equal(await page.getByRole('checkbox', { checked: true }).count(), 0);
    await page.getByLabel('URL').fill(`${system.receiver.url}/moved`);
    await page.getByLabel('Description').fill('');
    await page.getByLabel('comment.deleted').check();
    await tab.button('Save').click();
    await page.getByText('The endpoint is changed.').waitFor();
    await page.getByRole('heading', { name: `${system.receiver.url}/moved` }).waitFor();
    await page.getByText('comment.deleted', { exact: true }).waitFor();
    assert.equal(await page.locator('.endpoint').getByText('Before the edit').count(), 0);
    await tab.button('Send test event').click();
    await eventually(() => newest('/moved'));
    await tab.button('Edit…').click();
    assert.ok(await page.getByLabel('comment.deleted').isChecked());
    await tab.button('Save').click();
    await page.getByText('Nothing was changed.').waitFor();
    tab.assertClean();
    await remove(id);
  });

  it('shows deliveries as they come, replays failed ones, and pages backwards', async () => {
    const id = await system.endpoint('many');
    await using tab = await system.at(id);
    const { page } = tab;
    const rows = page.locator('.deliveries li');
    await system.createTasks(26);
    await rows.filter({ hasText: 'Succeeded' }).nth(24).waitFor();
    system.receiver.answer({ status: 503 });
    await system.createTasks(3);
    await rows.filter({ hasText: 'Failed' }).nth(2).waitFor();
    assert.equal(await rows.count(), 25);

    const seen = new Set<string>();
    const note = async (): Promise<void> => {
      for (const link of await rows.locator('a').all()) seen.add((await link.getAttribute('data-id')) ?? '');
    };
    await note();
    await tab.button('Older').click();
    await page.getByRole('heading', { name: 'Deliveries, page 2' }).waitFor();
    await eventually(async () => !seen.has((await rows.locator('a').first().getAttribute('data-id')) ?? ''));
    await note();
    assert.equal(seen.size, 29);
    assert.ok(await tab.button('Older').isDisabled());
    await tab.button('Newest').click();

    system.receiver.answer({ status: 204 });
    await tab.button('Replay failed…').click();
    await tab.button('Replay').click();
    await page.getByText('3 failed deliveries will be attempted again.').waitFor();
    await rows.filter({ hasText: 'Succeeded' }).nth(24).waitFor();
    await page.locator('.badge.good', { hasText: 'Enabled' }).waitFor();
    tab.assertClean();
    await remove(id);
  });

  it('says why an endpoint is disabled, and what to do about errors', async () => {
    const id = await system.endpoint('gone');
    await using tab = await system.at(id);
    const { page } = tab;
    system.receiver.answer({ status: 410 });
    await tab.button('Send test event').click();
    await page.getByText('It answered 410 Gone.').waitFor();
    await tab.button('Edit…').click();
    await page.getByLabel('URL').fill('https://localhost:22/');
    await tab.button('Save').click();
    await page.getByRole('dialog').getByText('The port of the url must be 443').waitFor();
    await page.keyboard.press('Escape');
    await remove(id);
    await page.getByRole('alert').getByText('It was deleted, or this key has no access to it.').waitFor();
    await page.getByRole('link', { name: 'All endpoints' }).click();
    await tab.button('New endpoint').click();
    await page.getByLabel('URL').fill('http://example.com/plain');
    await tab.button('Create endpoint').click();
    await page.getByRole('dialog').getByText('The url must begin with https://').waitFor();
    await page.keyboard.press('Escape');

    await tab.button('Remove key').click();
    await tab.enterKey('wts_unknown');
    const alert = page.getByRole('alert').filter({ hasText: 'key' });
    await alert.getByText('The API key is wrong, revoked or expired.').waitFor();
    assert.equal(await alert.innerText(), 'The API key is wrong, revoked or expired. Use another key.');
    await tab.enterKey(system.testSystem.readOnlyApiKey);
    await alert.getByText('This key is read-only. Webhooks need a full-access key').waitFor();
    assert.ok(await page.getByLabel('API key').isVisible(), 'the key is refused where it is entered');
    assert.equal(await tab.run('sessionStorage.length'), 0);
  });

  it('shows deliveries to a disabled endpoint as waiting, says why the last attempt failed, and retries none', async () => {
    const path = '/disabled';
    const id = await system.endpoint('disabled', path);
    // Slow, so that the endpoint is disabled before its last attempt.
    system.receiver.answer({ status: 503, afterMs: 1_000 });
    await system.createTasks(1);
    await eventually(() => newest(path));
    const change = { body: { enabled: false } };
    await system.testSystem.request(system.testSystem.apiKey, 'PATCH', `/api/webhooks/${id}`, change);
    await using tab = await system.at(id);
    const { page } = tab;
    const entry = page.getByRole('link', { name: 'task.created' });
    await entry
      .filter({ hasText: 'Waiting' })
      .filter({ hasText: 'next attempt when the endpoint is enabled' })
      .waitFor();
    await entry.click();
    await page.getByRole('region', { name: 'task.created' }).getByText('when the endpoint is enabled').waitFor();
    assert.ok(await tab.button('Retry now').isDisabled());
    system.receiver.answer('reset');
    await tab.button('Enable').click();
    const said = page.getByRole('status').getByText('The endpoint is enabled.');
    await said.waitFor();
    await entry.filter({ hasText: 'Failed' }).filter({ hasText: 'The endpoint closed the connection' }).waitFor();
    assert.doesNotMatch(await page.locator('main').innerText(), /connection_reset/);
    // What has been done is said over the page, and not for ever.
    await said.waitFor({ state: 'detached' });
    tab.assertClean();
    await remove(id);
  });

  it('asks again less often while the service cannot be reached, and goes on by itself', async () => {
    const id = await system.endpoint('offline');
    await using tab = await system.at(id);
    const { page } = tab;
    await page.getByText(/^Live, /).waitFor();
    await page.context().setOffline(true);
    // It reads every three seconds, and after the first failure in six.
    await page
      .getByText(/^The service cannot be reached. Check the network connection. Next try in (12|24) seconds.$/)
      .waitFor();
    await page.context().setOffline(false);
    await page.getByText(/^Live, /).waitFor();
    await tab.button('Pause').click();
    await page.getByText('Paused').waitFor();
    await tab.button('Continue').click();
    await page.getByText(/^Live, /).waitFor();
    await remove(id);
  });

  it('keeps the key in the storage of its tab only, and in no address [console.page.key]', async () => {
    const key = system.testSystem.apiKey;
    await using tab = await system.signedIn();
    const { page } = tab;
    await page.reload();
    await page.getByRole('heading', { name: 'Endpoints', exact: true }).waitFor();
    const [kept, cookies] = await tab.run<[string, string]>(
      'indexedDB.databases().then((all) => [JSON.stringify([{ ...localStorage }, all, history.state]), document.cookie])',
    );
    assert.deepEqual([kept, cookies], ['[{},[],null]', '']);
    assert.equal(
      await tab.run('JSON.stringify({ ...sessionStorage })'),
      JSON.stringify({ 'delivery-console-key': key }),
    );
    assert.ok(!(await page.content()).includes(key));
    for (const url of [...tab.requested, page.url()]) assert.ok(!url.includes(key), url);

    const other = await page.context().newPage();
    await other.goto(`${system.testSystem.baseUrl}/console`);
    await other.getByLabel('API key').waitFor();
    await tab.button('Remove key').click();
    await page.getByLabel('API key').waitFor();
    assert.equal(await tab.run('sessionStorage.length'), 0);
    assert.equal(await page.getByLabel('API key').inputValue(), '');
    tab.assertClean();
  });

  it('shows texts of others as texts, with their invisible characters written out [console.page.inert]', async () => {
    const id = await system.endpoint(HOSTILE.replaceAll('\u0007', ''));
    await using tab = await system.at(id, { viewport: PHONE });
    const { page } = tab;
    system.receiver.answer({ status: 500, body: HOSTILE.repeat(5) });
    await tab.button('Send test event').click();
    await page.getByRole('link', { name: 'endpoint.test' }).filter({ hasText: 'Failed' }).click();
    await page.getByLabel('Answer to attempt 8').waitFor();
    const shown = await page.locator('body').innerText();
    assert.doesNotMatch(shown, /(?!\n)[\p{Cc}\p{Cf}\p{Co}]/u);
    assert.ok(shown.includes('\\u202egpj.exe\\u2066 <img src=x'), shown);
    assert.equal(await page.locator('main :is(img, b, script)').count(), 0);
    assert.equal(await page.title(), 'Endpoint · Webhooks console');
    assert.equal(await tab.run('document.documentElement.scrollWidth'), PHONE.width);
    // Whatever a later change does, the browser itself parses no text of this page as HTML.
    await assert.rejects(tab.run(`document.createElement('p').innerHTML = '<b>x</b>'`), /TrustedHTML/);
    await remove(id);
  });

  it('is used with the keyboard alone: the focus is visible, follows, and comes back', async () => {
    const id = await system.endpoint('keyboard');
    await using tab = await system.at(id);
    const { page } = tab;
    const focused = () => tab.run<string>('document.activeElement.textContent.trim()');
    const press = async (name: string): Promise<void> => {
      await eventually(async () => {
        if ((await focused()) === name) return true;
        await page.keyboard.press('Tab');
        return false;
      });
      assert.notEqual(await tab.run('getComputedStyle(document.activeElement).outlineStyle'), 'none', name);
      await page.keyboard.press('Enter');
    };
    await press('Skip to the content');
    assert.equal(await tab.run('document.activeElement.id'), 'content');
    for (const name of ['Edit…', 'Rotate secret…']) {
      await press(name);
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      assert.equal(await focused(), name);
    }

    await tab.run('document.activeElement.blur()');
    await press('Send test event');
    const entry = page.getByRole('link', { name: 'endpoint.test' });
    await entry.filter({ hasText: 'Succeeded' }).waitFor();
    await entry.focus();
    await page.keyboard.press('Enter');
    await eventually(async () => (await focused()) === 'endpoint.test');
    await press('Close');
    await eventually(async () => (await focused()).includes('endpoint.test'));
    tab.assertClean();
    await remove(id);
  });

  it('gives programs that verify the deliveries, ready to run [console.page.secret]', async () => {
    await using tab = await system.signedIn();
    const { page } = tab;
    await tab.button('New endpoint').click();
    await page.getByLabel('URL').fill(`${system.receiver.url}/snippet`);
    await tab.button('Create endpoint').click();
    const secret = await page.getByRole('textbox', { name: 'Signing secret' }).inputValue();
    const programs: string[] = [];
    for (const choice of await page.getByRole('radio').all()) {
      await choice.check();
      programs.push(await page.getByLabel('Program of the receiver').innerText());
    }
    await tab.button('I have stored the secret').click();
    await tab.button('Send test event').click();
    const first = await eventually(() => newest('/snippet'));
    await tab.button('Rotate secret…').click();
    await tab.button('Rotate secret').click();
    await tab.button('I have stored the secret').click();
    await tab.button('Send test event').click();
    // Signed with both secrets now.
    const second = await eventually(() => {
      const found = newest('/snippet');
      return found === first ? null : found;
    });
    assert.equal(programs.length, 2);
    for (const program of programs) {
      await using server = await runProgram(program, secret);
      for (const { headers, body } of [first, second]) {
        assert.equal(await server.post(headers, body), 204);
        assert.equal(await server.post(headers, body.replace('endpoint.test', 'endpoint.text')), 400);
        assert.equal(await server.post({ ...headers, 'webhook-timestamp': '1600000000' }, body), 400);
        assert.equal(await server.post({}, body), 400);
      }
    }
    await page.getByRole('link', { name: 'All endpoints' }).click();
  });
});
