import type { TestRunOptions } from '@wts/cli/test-run';
import { verifyWebhook } from '@wts/client';
import { freePort } from '@wts/local';
import { eventually, receiver } from '@wts/testkit';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { cliPerson, type CliPerson } from './cli-person.ts';
import { openShared } from './shared-system.ts';

describe('webhooks, keys and the doctor of the command line', function cliWebhooks() {
  this.timeout(60_000);
  let tool: CliPerson;
  let identity: { cert: string; key: string };
  const wts: CliPerson['wts'] = (...given) => tool.wts(...given);
  const ok: CliPerson['ok'] = (...argv) => tool.ok(...argv);
  const json = async <T>(...argv: string[]): Promise<T> => JSON.parse(await ok(...argv, '--json')) as T;

  before(async () => {
    identity = await (await openShared()).authority.issue();
    tool = await cliPerson('Hooks');
  });

  it('make, change, test and delete an endpoint, named by a part of its address, and print a secret once and alone', async () => {
    await using consumer = await receiver({ identity });
    const secret = (await ok('webhook', 'create', `${consumer.url}/first`, '-d', 'First', '-e', 'task.created')).trim();
    assert.match(secret, /^whsec_/);
    const [listed] = await json<{ id: string; description: string; eventTypes: string[] }[]>('webhook', 'list');
    assert.deepEqual([listed?.description, listed?.eventTypes], ['First', ['task.created']]);
    const { id } = JSON.parse(await ok('webhook', 'test', '/first', '--json')) as { id: string };
    const [{ headers, body } = { headers: {}, body: '' }] = await consumer.until((all) => all.length > 0);
    assert.equal((await verifyWebhook(secret, headers, body)).type, 'endpoint.test');
    const rotated = (await ok('webhook', 'rotate', 'First')).trim();
    assert.notEqual(rotated, secret);
    await ok('webhook', 'edit', listed?.id.slice(0, 8) ?? '', '--event', 'all', '--disable');
    const [changed] = await json<{ enabled: boolean; eventTypes: string[] }[]>('webhook', 'list');
    assert.deepEqual([changed?.enabled, changed?.eventTypes], [false, []]);
    await ok('webhook', 'edit', 'First', '--enable');
    const deliveries = await eventually(async () => {
      const all = await json<{ id: string; status: string }[]>(
        'webhook',
        'deliveries',
        'First',
        '--status',
        'succeeded',
      );
      return all.length > 0 ? all : null;
    });
    assert.deepEqual(
      deliveries.map((one) => one.id),
      [id],
    );
    const asked = await wts(['webhook', 'delete', 'First']);
    assert.deepEqual([asked.code, /--yes confirms/.test(asked.err)], [2, true]);
    assert.equal((await wts(['webhook', 'delete', 'First', '--yes'])).code, 0);
    assert.deepEqual(await json('webhook', 'list'), []);
    assert.equal((await wts(['webhook', 'test', 'First'])).code, 5);
  });

  it('list deliveries, and attempt one, or all that failed since a time, once more', async () => {
    await using consumer = await receiver({ identity });
    await ok('webhook', 'create', `${consumer.url}/again`);
    const { id } = JSON.parse(await ok('webhook', 'test', 'again', '--json')) as { id: string };
    await eventually(async () => (await ok('webhook', 'deliveries', 'again', '-s', 'succeeded', '-q')).trim() === id);
    assert.equal(await ok('webhook', 'deliveries', 'again', '-s', 'failed', '-q'), '');
    await ok('webhook', 'retry', 'again', id.slice(0, 13));
    await consumer.until((all) => all.length === 2);
    assert.deepEqual((await json<{ count: number }>('webhook', 'replay', 'again', '--since', '1h')).count, 0);
    assert.equal((await wts(['webhook', 'replay', 'again'])).code, 2);
    assert.equal((await wts(['webhook', 'replay', 'again', '--since', 'soon'])).code, 2);
    await wts(['webhook', 'delete', 'again', '--yes']);
  });

  it('listen on this machine: each event is verified, printed and forwarded unchanged, and Ctrl-C deletes the endpoint', async () => {
    await using program = await receiver();
    const [cert, key] = [join(tool.folder, 'cert.pem'), join(tool.folder, 'key.pem')];
    writeFileSync(cert, identity.cert);
    writeFileSync(key, identity.key);
    const [stdout, stderr, interrupting] = [new PassThrough(), new PassThrough(), new AbortController()];
    let [out, err] = ['', ''];
    stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const argv = [
      'webhook',
      'listen',
      '--cert',
      cert,
      '--key',
      key,
      '--forward-to',
      `${program.url}/hooks`,
      '-e',
      'task.created',
    ];
    const running = wts(argv, { more: { stdout, stderr, interrupted: interrupting.signal } });
    const secret = await eventually(() => /Its secret is (whsec_\S+)/.exec(err)?.[1]);
    // The first answer makes the service try again.
    let answers = 0;
    program.answer(() => ({ status: (answers += 1) === 1 ? 503 : 200 }));
    await ok('task', 'add', 'Seen by the \u001b]52 listener');
    const received = await program.until((all) => all.length >= 2);
    for (const { headers, body, path } of received) {
      assert.equal(path, '/hooks');
      assert.equal((await verifyWebhook(secret, headers, body)).type, 'task.created');
    }
    await eventually(() =>
      /task\.created .*attempt 1, verified, answered 503\).*attempt 2, verified, answered 200\)/s.test(out),
    );
    assert.ok(!out.includes('\u001b'));
    const [endpoint] = await json<{ id: string; url: string }[]>('webhook', 'list');
    const forged = await fetch(`${program.url}/x`, { method: 'POST' });
    assert.equal(forged.status, 200);
    interrupting.abort();
    await running;
    await eventually(async () => (await json<unknown[]>('webhook', 'list')).length === 0);
    assert.match(endpoint?.url ?? '', /^https:\/\/127\.0\.0\.1:/);
  });

  it('say how to reach this machine where the service needs a public address', async () => {
    const { code, err } = await wts(['webhook', 'listen']);
    assert.deepEqual([code, /tunnel/.test(err)], [2, true], err);
  });

  it('create keys with the access and the workspace of the command, list them without, and revoke them [api-keys.cli.create, api-keys.cli.revoke]', async () => {
    const key = (
      await ok('api-key', 'create', 'ci', 'of', 'docs', '--permissions', 'read-only', '--days', '30')
    ).trim();
    const reads = await wts(['task', 'list'], { env: { WTS_TOKEN: key } });
    assert.equal(reads.code, 0, reads.err);
    const writes = await wts(['task', 'add', 'x'], { env: { WTS_TOKEN: key } });
    assert.deepEqual([writes.code, /full access: wts login/.test(writes.err)], [4, true], writes.err);
    const made = await json<{ id: string; workspaceId: string; token: string }>(
      'api-key',
      'create',
      'one',
      '--permissions=full-access',
      `--workspace=${tool.urlKey}`,
    );
    assert.ok(made.token.startsWith('wts_') && made.workspaceId !== null);
    const { out } = await wts(['api-key', 'list', '--json']);
    const labels = (JSON.parse(out) as { label: string; expiresAt: string | null }[]).map(({ label }) => label);
    assert.ok(labels.includes('ci of docs') && labels.includes('one') && !out.includes(key));
    await ok('api-key', 'create', 'CI of docs', '--permissions', 'read-only');
    const several = await wts(['api-key', 'revoke', 'ci of docs']);
    assert.equal(several.code, 6);
    assert.match(several.err, /may mean several keys\.\n\S+ {2}wts_\S+… {2}CI of docs\n.*ci of docs/s);
    assert.equal((await wts(['api-key', 'revoke', 'docs'])).code, 5);
    const shown = async (word: string): Promise<string> =>
      (await wts(['api-key', 'revoke', word], { columns: 80 })).out;
    assert.match(await shown(key.slice(0, 12)), /^Revoked ci of docs\./);
    assert.match(await shown('ci of docs'), /^Revoked CI of docs\./);
    const piped = await ok('api-key', 'create', 'piped', '--permissions=read-only');
    assert.match(await ok('api-key', 'revoke', piped.slice(0, 12)), /^[0-9a-f-]{36}\tpiped\n$/);
    await ok('api-key', 'revoke', made.id);
    await eventually(async () => (await wts(['whoami'], { env: { WTS_TOKEN: made.token } })).code === 4);
    assert.equal((await wts(['api-key', 'revoke', made.id])).code, 5);
    assert.equal((await wts(['api-key', 'create', 'x'])).code, 2);
    assert.equal((await wts(['api-key', 'create', 'x', '--permissions', 'root'])).code, 2);
  });

  it('find nothing wrong here, and name what stands between: a clock, an address, a proxy, a key', async () => {
    const states = async (options: TestRunOptions): Promise<Record<string, string>> => {
      const { out } = await wts(['doctor', '--json'], options);
      const found = JSON.parse(out) as { check: string; state: string; text: string }[];
      return Object.fromEntries(found.map(({ check, state, text }) => [check, `${state} ${text}`]));
    };
    assert.equal((await wts(['doctor'])).code, 0);
    for (const [check, found] of Object.entries(await states({}))) assert.match(found, /^ok /, check);
    const slow = await states({ more: { now: () => new Date(Date.now() - 600_000) } });
    assert.match(slow['clock'] ?? '', /failed (?:10|9) minutes behind the service/);
    const proxied = await states({ env: { HTTPS_PROXY: 'http://127.0.0.1:9' } });
    assert.match(proxied['proxy'] ?? '', /^warning HTTPS_PROXY is set/);
    const limited = await states({ env: { WTS_TOKEN: tool.testSystem.readOnlyApiKey } });
    assert.match(limited['access'] ?? '', /^warning read only/);
    const revoked = await states({ env: { WTS_TOKEN: 'wts_wrong' } });
    assert.match(revoked['credential'] ?? '', /^failed /);
    const away = await wts(['doctor'], { env: { WTS_URL: `http://127.0.0.1:${await freePort()}` } });
    assert.equal(away.code, 1);
    assert.match(away.out, /failed\tservice\t.*nothing listens there/);
  });
});
