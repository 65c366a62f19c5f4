import { eventually, receiver, type TestSystem } from '@wts/testkit';
import { freePort } from '@wts/local';
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync, chmodSync, readdirSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { Machine } from './cli-login.ts';
import { sharedSystem } from './shared-system.ts';

describe('wts login', () => {
  let system: TestSystem;
  before(async () => (system = await sharedSystem()));

  const keyFile = ({ folder }: Machine): string => {
    const [name = ''] = readdirSync(join(folder, 'credentials'));
    return join(folder, 'credentials', name);
  };
  const tokenOf = (machine: Machine): string =>
    (JSON.parse(readFileSync(keyFile(machine), 'utf8')) as { token: string }).token;
  const statusOf = async (token: string): Promise<number> =>
    (await system.request(token, 'GET', '/api/workspaces')).status;

  const keysMade = async (): Promise<number> =>
    (await system.request(system.apiKey, 'GET', '/api/auth/keys')).text.split('"label":"wts on ').length;

  it('prints the address of the page, waits for the person, and stores a key that works; whoami says where it came from', async () => {
    const machine = new Machine(system);
    const { out, err, page } = await machine.login();
    assert.match(err, /Your browser opens\. If it does not, open this address/);
    assert.match(err, /Waiting for you to answer in the browser/);
    assert.match(page, /You are signed in.*You can close this page/s);
    const token = tokenOf(machine);
    assert.equal(await statusOf(token), 200);
    assert.ok(!`${out}${err}${page}`.includes(token), 'the key is never shown');
    const who = await machine.wts(['whoami']);
    assert.match(who.out, /Demo Owner/);
    assert.match(who.out, /file, profile 127\.0\.0\.1-\d+/);
  });

  it('takes the answer at 127.0.0.1 alone, with its state; other requests change nothing', async () => {
    const machine = new Machine(system);
    const login = machine.start(['login', system.baseUrl]);
    const address = await login.address();
    const [port, state] = [address.searchParams.get('port'), address.searchParams.get('state')];
    const at = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}${path}`, { headers });
    const code = `wtsc_${'0'.repeat(64)}`;
    for (const path of [
      '/',
      '/favicon.ico',
      `/callback?code=${code}`,
      `/callback?code=${code}&state=other`,
      `/x?code=${code}&state=${state}`,
    ])
      assert.equal((await at(path)).status, 404, path);
    await assert.rejects(fetch(`http://[::1]:${port}/`));
    const { to } = await machine.answer(address, { access: 'full-access' });
    assert.equal(to?.host, `127.0.0.1:${port}`);
    assert.match(await (await fetch(to)).text(), /You are signed in/);
    assert.equal((await login.run).code, 0, login.said());
    await assert.rejects(at('/'), 'nothing listens any more');
  });

  it('tells the page and the shell when the person refuses or the code is wrong, and Ctrl-C leaves nothing', async () => {
    const machine = new Machine(system);
    const refused = machine.start(['login', system.baseUrl]);
    const { to } = await machine.answer(await refused.address(), { decision: 'deny' });
    assert.match(await (await fetch(to!)).text(), /You are not signed in/);
    assert.deepEqual([(await refused.run).code, /You refused/.test(refused.said())], [2, true]);
    const wrong = machine.start(['login', system.baseUrl]);
    const { searchParams } = await wrong.address();
    const forged = `code=wtsc_${'0'.repeat(64)}&state=${searchParams.get('state')}`;
    const page = await fetch(`http://127.0.0.1:${searchParams.get('port')}/callback?${forged}`);
    assert.match(await page.text(), /You are not signed in/);
    assert.notEqual((await wrong.run).code, 0);
    const stopped = machine.start(['login', system.baseUrl]);
    const port = (await stopped.address()).searchParams.get('port');
    stopped.interrupt();
    assert.equal((await stopped.run).code, 130);
    await assert.rejects(fetch(`http://127.0.0.1:${port}/`));
    assert.deepEqual(readdirSync(machine.folder), []);
  });

  it('reads the code without an echo where there is no browser', async () => {
    const machine = new Machine(system);
    const isTty = { stdin: true, stdout: false, stderr: true };
    const login = machine.start(['login', system.baseUrl, '--no-browser', '--read-only'], { more: { isTty } });
    const address = await login.address();
    assert.equal(address.searchParams.get('port'), null);
    const { text } = await machine.answer(address);
    const [, code = ''] = /<code class="token">([^<]+)</.exec(text) ?? [];
    login.stdin.write(`${code}\r`);
    const { code: exit, out } = await login.run;
    assert.equal(exit, 0, login.said());
    assert.ok(!`${out}${login.said()}`.includes(code.slice(5)));
    assert.match(out, /read-only/);
    const { code: denied, err } = await machine.wts(['api-key', 'list']);
    assert.deepEqual([denied, /full access: wts login/.test(err)], [4, true], err);
  });

  it('takes a key that exists from stdin alone, never as an argument', async () => {
    const machine = new Machine(system);
    const given = await machine.wts(['login', system.baseUrl, '--with-token'], { stdin: `${system.readOnlyApiKey}\n` });
    assert.equal(given.code, 0, given.err);
    assert.equal(tokenOf(machine), system.readOnlyApiKey);
    assert.equal((await machine.wts(['login', system.baseUrl, '--token', 'x'])).code, 2);
    assert.equal((await machine.wts(['login', system.baseUrl, '--with-token'])).code, 2);
    const wrong = await machine.wts(['login', system.baseUrl, '--with-token'], { stdin: 'wts_wrong' });
    assert.equal(wrong.code, 4, wrong.err);
    assert.equal(tokenOf(machine), system.readOnlyApiKey);
    // Others may use it.
    assert.match((await machine.wts(['logout'])).err, /not made by wts login, so it stays valid/);
    assert.equal(await statusOf(system.readOnlyApiKey), 200);
  });

  it('keeps the keys of two people who sign in at the same time, each in a profile of its own', async () => {
    const machine = new Machine(system);
    const people = await Promise.all(['Ada', 'Bob'].map((name) => system.person(name)));
    const keys = await Promise.all(people.map((one) => system.keyOf(one, { permissions: 'read-only' })));
    const logins = keys.map(({ token }) =>
      machine.wts(['login', system.baseUrl, '--with-token', '--json', 'profile'], { stdin: token }),
    );
    const profiles = (await Promise.all(logins)).map(({ out }) => (JSON.parse(out) as { profile: string }).profile);
    const names = profiles.map(async (profile) => {
      const { out } = await machine.wts(['whoami', '--profile', profile, '--json', 'name']);
      return (JSON.parse(out) as { name: string }).name;
    });
    assert.deepEqual(await Promise.all(names), ['Ada', 'Bob']);
  });

  it('is less than WTS_TOKEN, which it warns of', async () => {
    const machine = new Machine(system);
    await machine.login();
    const env = { WTS_TOKEN: system.readOnlyApiKey };
    assert.match((await machine.wts(['whoami'], { env })).out, /WTS_TOKEN/);
    const again = await machine.wts(['login', '--with-token'], { env, stdin: system.apiKey });
    assert.match(again.err, /WTS_TOKEN is set and takes precedence/);
  });

  it('stops before the page where there is no keyring, and names the store that is a file', async () => {
    const machine = new Machine(system);
    const env = { WTS_CREDENTIAL_STORE: undefined, DBUS_SESSION_BUS_ADDRESS: undefined };
    const { code, err } = await machine.wts(['login', system.baseUrl], { env });
    assert.equal(code, 1);
    assert.match(err, /keyring.*--credential-store=file/s);
    assert.ok(!err.includes('/account/connect'));
    assert.deepEqual(readdirSync(machine.folder), []);
  });

  it('writes a file that only its owner can read, and uses none that others can', async () => {
    const machine = new Machine(system);
    await machine.login();
    const file = keyFile(machine);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(statSync(join(machine.folder, 'credentials')).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(join(machine.folder, 'credentials')).length, 1, 'no part of a file is left');
    chmodSync(file, 0o644);
    const { code, err } = await machine.wts(['whoami']);
    assert.deepEqual([code, /can be read by others \(0644\)/.test(err)], [1, true], err);
  });

  it('leaves no key alive when Ctrl-C comes while the code is exchanged', async () => {
    const machine = new Machine(system);
    const before = await keysMade();
    const login = machine.start(['login', system.baseUrl]);
    const { to } = await machine.answer(await login.address(), { access: 'full-access' });
    const page = fetch(to!).catch(() => undefined);
    await new Promise(setImmediate);
    login.interrupt();
    assert.equal((await login.run).code, 130);
    await page;
    await eventually(async () => (await keysMade()) === before || undefined);
    assert.equal(existsSync(join(machine.folder, 'config.json')), false);
  });

  it('leaves no key alive that cannot be stored, and says so on the page', async () => {
    const machine = new Machine(system);
    const before = await keysMade();
    writeFileSync(join(machine.folder, 'credentials'), 'a file where the folder would be');
    const login = machine.start(['login', system.baseUrl]);
    const { to } = await machine.answer(await login.address(), { access: 'full-access' });
    assert.match(await (await fetch(to!)).text(), /You are not signed in.*cannot be (?:read|written)/s);
    assert.equal((await login.run).code, 1, login.said());
    assert.equal(await keysMade(), before);
  });

  it('shows in auth status where each key is, its permission, its end and its last characters, and sends nothing', async () => {
    const machine = new Machine(system);
    assert.equal((await machine.wts(['auth', 'status'])).code, 4);
    await machine.login(['--profile', 'work'], { access: 'read-only', expires: '30' });
    const token = tokenOf(machine);
    const { out } = await machine.wts(['auth', 'status', '--json']);
    const [status] = JSON.parse(out) as Record<string, string>[];
    assert.equal(status?.['profile'], 'work');
    assert.equal(status?.['key'], `…${token.slice(-4)}`);
    assert.equal(status?.['access'], 'read-only');
    assert.equal(status?.['storedIn'], `${keyFile(machine)} (0600)`);
    const days = (Date.parse(status?.['expiresAt'] ?? '') - Date.now()) / 86_400_000;
    assert.ok(days > 29 && days <= 30);
    assert.ok(!out.includes(token));
    const shown = await machine.wts(['auth', 'status'], { env: { WTS_TOKEN: system.apiKey }, columns: 40 });
    assert.ok(shown.out.includes('WTS_TOKEN') && !shown.out.includes(system.apiKey));
    assert.ok(shown.out.includes(`${keyFile(machine)} (0600)`), shown.out);
  });

  it('is undone by logout, which revokes the key, also one that can only read; a new login revokes the key before it', async () => {
    const machine = new Machine(system);
    await machine.login();
    const first = tokenOf(machine);
    await machine.login([], { access: 'read-only' });
    const second = tokenOf(machine);
    assert.equal(readdirSync(join(machine.folder, 'credentials')).length, 1, 'one profile for a server and a person');
    assert.deepEqual([await statusOf(first), await statusOf(second)], [401, 200]);
    assert.equal((await machine.wts(['logout'])).code, 0);
    assert.equal(await statusOf(second), 401);
    assert.deepEqual([(await machine.wts(['whoami'])).code, (await machine.wts(['logout'])).code], [4, 4]);
  });

  it('is forgotten by logout without a network, which says that the key lives on and how to revoke it', async () => {
    const machine = new Machine(system);
    await machine.login(['--profile', 'away']);
    const token = tokenOf(machine);
    const file = join(machine.folder, 'config.json');
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(
        `"authUrl": "${system.authUrl}"`,
        `"authUrl": "http://127.0.0.1:${await freePort()}"`,
      ),
    );
    const { code, err } = await machine.wts(['logout']);
    assert.equal(code, 9);
    assert.match(err, /the key lives on.*wts api-key revoke [0-9a-f-]{36}/s);
    assert.deepEqual(readdirSync(join(machine.folder, 'credentials')), []);
    assert.equal(await statusOf(token), 200);
  });

  it('gives a key that is sent to no other origin: not by a variable, an edited profile, a redirect or a server with the name of another one', async () => {
    const machine = new Machine(system);
    await machine.login(['--profile', 'home']);
    const token = tokenOf(machine);
    await using evil = await receiver();
    const { code, err } = await machine.wts(['whoami'], { env: { WTS_URL: evil.url } });
    assert.deepEqual([code, /is not sent to/.test(err)], [4, true], err);
    const file = join(machine.folder, 'config.json');
    const config = readFileSync(file, 'utf8');
    writeFileSync(file, config.replace(`"url": "${system.baseUrl}"`, `"url": "${evil.url}"`));
    assert.equal((await machine.wts(['whoami'])).code, 4);
    writeFileSync(file, config);
    await using leading = await receiver();
    leading.answer({ status: 307, headers: { location: `${evil.url}/graphql` } });
    const led = await machine.wts(['whoami'], { env: { WTS_URL: leading.url, WTS_TOKEN: token } });
    assert.notEqual(led.code, 0);
    assert.deepEqual(evil.received, []);
    const other = await machine.wts(['login', evil.url]);
    assert.equal(other.code, 1, other.err);
  });

  it('gives no key to a server that names the sign-in of another one as its own', async () => {
    const machine = new Machine(system);
    await using evil = await receiver();
    const json = JSON.stringify({ resource: evil.url, authorization_servers: [system.authUrl] });
    evil.answer({ status: 200, headers: { 'content-type': 'application/json' }, body: json });
    const before = await keysMade();
    const login = machine.start(['login', evil.url]);
    const { to } = await machine.answer(await login.address(), { access: 'full-access' });
    assert.match(await (await fetch(to!)).text(), /You are not signed in/);
    assert.deepEqual([(await login.run).code, /No key was sent to it/.test(login.said())], [6, true], login.said());
    assert.ok(
      evil.received.every(
        ({ method, path, headers }) => `${method} ${path}`.startsWith('GET /.well-known/') && !headers.authorization,
      ),
    );
    assert.equal(await keysMade(), before);
    const named = await machine.wts(['login', system.baseUrl.replace('127.0.0.1', 'localhost')]);
    assert.deepEqual([named.code, /calls itself/.test(named.err)], [6, true], named.err);
  });

  it('ends with its key: a revoked one is exit 4, with what to do', async () => {
    const machine = new Machine(system);
    await machine.login();
    const { out } = await machine.wts(['api-key', 'list', '--json', 'id,label']);
    const [newest] = JSON.parse(out) as { id: string; label: string }[];
    assert.match(newest?.label ?? '', /^wts on /);
    assert.equal((await machine.wts(['api-key', 'revoke', newest?.id ?? ''])).code, 0);
    const { code, err } = await machine.wts(['whoami', '--json']);
    const { error } = JSON.parse(err) as { error: { code: string; hint: string } };
    assert.deepEqual([code, error.hint], [4, 'Sign in again: wts login']);
  });
});
