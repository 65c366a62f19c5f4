import { runWts, type TestRun, type TestRunOptions } from '@wts/cli/test-run';
import { scratch, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedSystem } from './shared-system.ts';

describe('wts admin [operator.cli]', function cliAdmin() {
  this.timeout(60_000);
  let system: TestSystem;
  let operatorToken: string;
  const folder = scratch('cli-admin');
  const mark = randomUUID().slice(0, 8);
  const email = `ada-${mark}@example.com`;

  before(async () => {
    system = await sharedSystem();
    operatorToken = await system.operatorToken();
  });

  const wts = (argv: readonly string[], { env, ...options }: TestRunOptions = {}): Promise<TestRun> => {
    const own = { WTS_URL: system.baseUrl, WTS_CONFIG_DIR: folder, WTS_OPERATOR_TOKEN: operatorToken, NO_COLOR: '1' };
    return runWts(['admin', ...argv], { ...options, env: { ...own, ...env }, more: { cwd: folder } });
  };
  const ok = async (...argv: string[]): Promise<string> => {
    const { code, out, err } = await wts(argv);
    assert.equal(code, 0, `${argv.join(' ')}: ${err}`);
    return out;
  };
  const json = async <T>(...argv: string[]): Promise<T> => JSON.parse(await ok(...argv, '--json')) as T;

  it('creates the first owner, whose link opens, and does so once', async () => {
    const add = () =>
      wts(['owner', 'add', email, '--name', `Ada ${mark}`, '--workspace-name', `Acme ${mark}`, '--key', `a-${mark}`]);
    const { code, out, err } = await add();
    assert.equal(code, 0, err);
    assert.match(out, new RegExp(`^${system.authUrl}/link\\?token=\\S+\\n$`));
    assert.equal((await fetch(out.trim())).status, 200);
    assert.equal((await add()).code, 0);
    const owners = await json<{ owners: { name: string }[] }[]>('workspace', 'list', mark);
    assert.deepEqual(
      owners.map((one) => one.owners.map(({ name }) => name)),
      [[`Ada ${mark}`]],
    );
    assert.match((await wts(['owner', 'add', email])).err, /--workspace-name/);
  });

  it('finds a person by the address, and disables, enables and signs them out', async () => {
    assert.match(await ok('person', email), new RegExp(`Ada ${mark}`));
    for (const [verb, says] of [
      ['disable', 'Disabled'],
      ['enable', 'Enabled'],
      ['end-sessions', 'Signed out'],
    ] as const) {
      assert.equal((await wts(['person', verb, email], { columns: 80 })).out, `${says} Ada ${mark}\n`);
    }
    assert.match(await ok('person', 'reset-link', email), /\/link\?token=/);
    const [row] = await json<{ email: string; disabledAt: null }[]>('person', 'list', email);
    assert.deepEqual([row?.email, row?.disabledAt], [email, null]);
    const unknown = await wts(['person', 'disable', 'nobody@example.com']);
    assert.deepEqual([unknown.code, /No person/.test(unknown.err)], [5, true]);
  });

  it('adds an owner, deletes and restores a workspace, and asks before it deletes', async () => {
    const { name } = await system.member(`Bob ${mark}`);
    assert.match(await ok('workspace', 'add-owner', `a-${mark}`, name), /\S/);
    assert.equal((await wts(['workspace', 'delete', `a-${mark}`])).code, 2);
    const at = async () =>
      (await json<{ archivedAt: string | null }[]>('workspace', 'list', `a-${mark}`))[0]?.archivedAt;
    await ok('workspace', 'delete', `a-${mark}`, '--yes');
    assert.notEqual(await at(), null);
    await ok('workspace', 'restore', `a-${mark}`);
    assert.equal(await at(), null);
    const usage = await json<{ people: number }>('usage');
    assert.ok(usage.people > 1);
  });

  it('exports a person into a file that only its owner reads, and erases them after a confirmation', async () => {
    await ok('person', 'export', email, '--to', join(folder, 'ada.ndjson'));
    const exported = readFileSync(join(folder, 'ada.ndjson'), 'utf8');
    assert.match(exported, /\{"type":"end","lines":\d+\}\n$/);
    assert.ok(exported.includes(email));
    assert.equal((await wts(['person', 'erase', email])).code, 2, 'there is no terminal to ask');
    const { stays } = await json<{ stays: string[] }>('person', 'erase', email, '--yes');
    assert.ok(stays.length > 3);
    assert.equal((await wts(['person', email])).code, 5);
  });

  it('registers and deletes a client of OAuth', async () => {
    const uri = 'http://127.0.0.1/callback';
    const client = await json<{ client_id: string; client_secret: string }>(
      'client',
      'add',
      'Notes',
      '--redirect-uri',
      uri,
      '--with-secret',
    );
    assert.match(client.client_secret, /^wtss_/);
    const [listed] = await json<{ name: string; isByOperator: boolean }[]>('client', 'list', client.client_id);
    assert.deepEqual([listed?.name, listed?.isByOperator], ['Notes', true]);
    await ok('client', 'delete', client.client_id, '--yes');
    assert.deepEqual(await json('client', 'list', client.client_id), []);
  });

  it('needs an operator token, and takes no API key for one', async () => {
    const refused = await wts(['usage'], { env: { WTS_OPERATOR_TOKEN: '' } });
    assert.deepEqual([refused.code, /WTS_OPERATOR_TOKEN is not set/.test(refused.err)], [4, true]);
    assert.equal((await wts(['usage'], { env: { WTS_OPERATOR_TOKEN: system.apiKey } })).code, 2);
    const unknown = `wtsop_${'0'.repeat(49)}`;
    assert.equal((await wts(['usage'], { env: { WTS_OPERATOR_TOKEN: unknown } })).code, 4);
  });
});
