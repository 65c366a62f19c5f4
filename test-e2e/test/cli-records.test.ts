import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestRunOptions } from '@wts/cli/test-run';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { cliPerson, type CliPerson } from './cli-person.ts';

const INTERRUPTED = { code: 'interrupted', message: 'Interrupted.', hint: null, requestId: null };

const parsed = (text: string): Record<string, unknown>[] => JSON.parse(text) as Record<string, unknown>[];

describe('projects, labels, teams and what hangs on tasks, by the command line', function cliRecords() {
  this.timeout(60_000);
  let tool: CliPerson;
  const ok: CliPerson['ok'] = (...argv) => tool.ok(...argv);

  before(async () => (tool = await cliPerson('Keeper')));

  it('have their whole life', async () => {
    for (const [noun, ...more] of [
      ['project', '--lead', 'me'],
      ['team', '--key', 'CORE'],
      ['label', '--color', '#d33'],
    ] as const) {
      const id = (await ok(noun, 'add', 'Core', 'work', ...more, '-q')).trim();
      assert.equal((await ok(noun, 'edit', 'core WORK', '--name', 'Renamed', '-q')).trim(), id);
      assert.match(await ok(noun, 'list'), /Renamed/);
      if (noun !== 'label') assert.match(await tool.shown(noun, 'renamed'), /Renamed/);
      assert.match(await tool.shown(noun, 'archive', 'renamed'), /^Archived Renamed/);
      assert.doesNotMatch(await ok(noun, 'list'), /Renamed/);
      assert.match(await ok(noun, 'list', '--archived'), /Renamed/);
      assert.match(await tool.shown(noun, 'restore', 'renamed'), /^Restored Renamed/);
      assert.match(await ok(noun, 'delete', 'renamed', '--dry-run'), /^Would delete Renamed/);
      assert.equal((await tool.wts([noun, 'delete', 'renamed'])).code, 2);
      assert.match(await tool.shown(noun, 'delete', 'renamed', '--yes'), /^Deleted Renamed/);
      assert.equal((await tool.wts([noun, 'edit', 'renamed', '--name', 'x'])).code, 5);
    }
  });

  it('have members where they have them', async () => {
    await ok('project', 'add', 'Secret', '--private');
    assert.match(await ok('project', 'members', 'secret'), /^Keeper\t/);
    await ok('team', 'add', 'Crew', '--key', 'CREW');
    assert.match(await ok('team', 'members', 'crew', '--add', 'me'), /^Keeper\t/);
    assert.equal(await ok('team', 'members', 'crew', '--remove', 'me'), '');
  });

  it('have members beyond the first page', async () => {
    const teamId = (await ok('team', 'add', 'All', '--key', 'ALL', '-q')).trim();
    const people = Array.from({ length: 102 }, () => randomUUID());
    for (const from of [0, 34, 68])
      await tool.testSystem.commit(
        people.slice(from, from + 34).flatMap((userId) => [
          { modelName: 'User', modelId: userId, action: 'INSERT', payload: { name: `Person ${userId}` } },
          { modelName: 'TeamMember', modelId: randomUUID(), action: 'INSERT', payload: { teamId, userId } },
        ]),
      );
    const listed = (await ok('team', 'members', 'all', '-q')).trim().split('\n');
    assert.deepEqual(listed.toSorted(), people.toSorted());
  });

  it('take comments and items of a checklist', async () => {
    const task = (await ok('task', 'add', 'With a list', '-q')).trim();
    await ok('comment', 'add', task, 'The', 'draft', 'is', 'ready.');
    const fromStdin = await tool.wts(['comment', 'add', task, '-q'], { stdin: 'Two\nlines\n' });
    const comment = fromStdin.out.trim();
    await ok('comment', 'edit', comment, 'Three words now');
    const bodies = parsed(await ok('comment', 'list', task, '--json', 'body')).map(({ body }) => body);
    assert.deepEqual(bodies, ['The draft is ready.', 'Three words now']);
    await ok('comment', 'delete', comment, '--yes');
    await ok('checklist', 'add', task, 'First step', 'Second step');
    assert.match(await tool.shown('checklist', 'check', task, 'second'), /^Done: Second step\n$/);
    assert.match(await tool.shown('checklist', 'list', task), /1 {2}\[ \] +First step.*\n +2 {2}\[x\] +Second step/);
    assert.match(await tool.shown('checklist', 'uncheck', task, '2'), /^Open: /);
    assert.equal((await tool.wts(['checklist', 'check', task, 'step'])).code, 6);
    await ok('checklist', 'delete', task, '1');
    const shown = await tool.shown('task', task);
    for (const text of ['[ ] Second step', 'Keeper, just now:', 'The draft is ready.'])
      assert.ok(shown.includes(text), shown);
  });

  it('are found by words, and have a history', async () => {
    const task = (await ok('task', 'add', 'Zebra crossing', '-q')).trim();
    await ok('task', 'edit', task, '--due', '2026-12-24');
    assert.match(await tool.shown('search', 'zebra'), /task +CLI-\S+ +Zebra crossing/);
    const entries = parsed(await ok('history', task, '--json', 'action,clientId'));
    assert.deepEqual(entries, [
      { action: 'UPDATE', clientId: 'wts' },
      { action: 'INSERT', clientId: 'wts' },
    ]);
    assert.match(await tool.shown('history', task), /Keeper +changed +deadlineAt: 2026-12-24/);
  });

  it('of a workspace: created, with members and invitations, joined, left, deleted and restored', async () => {
    const other = await cliPerson('Guest');
    const invited = await ok('workspace', 'invite', '--role', 'guest', '--json');
    const { code, id } = JSON.parse(invited) as Record<string, string>;
    assert.match(await ok('workspace', 'invite', '--list'), new RegExp(id ?? ''));
    assert.equal((await other.ok('workspace', 'join', code ?? '', '-q')).length, 37);
    assert.match(await ok('workspace', 'members', '--role', 'guest=member'), /Guest\t.*\tmember\t/);
    assert.match(await other.ok('workspace', 'list'), new RegExp(tool.urlKey));
    await other.ok('workspace', 'leave', tool.urlKey, '--yes');
    assert.doesNotMatch(await ok('workspace', 'members'), /Guest/);
    await ok('workspace', 'invite', '--revoke', id ?? '');
    assert.equal((await other.wts(['workspace', 'join', code ?? ''])).code, 5);
    const { code: refused } = await other.wts(['workspace', 'delete', other.urlKey]);
    assert.equal(refused, 2);
    await other.ok('workspace', 'delete', other.urlKey, '--yes');
    await other.ok('workspace', 'restore', other.urlKey);
    assert.match(await other.ok('workspace', 'list'), new RegExp(other.urlKey));
  });

  it('of people to invite are several addresses, of which each gets its own answer [cli.batch.partly]', async () => {
    const addresses = ['ben@example.com', 'no address', 'cleo@example.com'];
    const { code, out, err } = await tool.wts(['workspace', 'invite', ...addresses, '--role', 'guest'], {
      columns: 120,
    });
    assert.equal(code, 9, err);
    assert.match(out, /^Invited ben@example\.com as guest, with the code \S+\nInvited cleo@example\.com as guest, /);
    assert.match(err, /1 of 3 failed, the others are done\.\n {2}no address: /);
    const made = await ok('workspace', 'invite', 'a@example.com', 'b@example.com', '--json', 'email');
    assert.deepEqual(JSON.parse(made), [{ email: 'a@example.com' }, { email: 'b@example.com' }]);
    // In a pipe.
    assert.match(
      await ok('workspace', 'invite', 'd@example.com', 'e@example.com'),
      /^\S+\td@example\.com \S+\n\S+\te@/,
    );
  });

  it('come from the workspace that a flag, the environment, the folder or the profile names, in this order [cli.settings.order]', async () => {
    const profile = { url: tool.testSystem.baseUrl, workspace: 'of-the-profile' };
    const config = { profile: 'one', profiles: { one: profile, two: profile } };
    const folder = mkdtempSync(join(tool.folder, 'config-'));
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
    mkdirSync(join(folder, 'below'));
    const env = { WTS_WORKSPACE: undefined, WTS_CONFIG_DIR: folder };
    const at = { env, more: { cwd: join(folder, 'below') } };
    const rowOf = async (name: string, options: TestRunOptions = at, ...flags: string[]): Promise<unknown[]> => {
      const { out } = await tool.wts(['config', 'list', '--json', ...flags], options);
      const row = parsed(out).find((one) => one['name'] === name);
      return [row?.['value'], row?.['source']];
    };
    assert.deepEqual(await rowOf('workspace'), ['of-the-profile', 'profile one']);
    assert.deepEqual(await rowOf('url'), [tool.testSystem.baseUrl, 'WTS_URL']);
    assert.deepEqual(await rowOf('token'), [`…${tool.token.slice(-4)}`, 'WTS_TOKEN']);
    await tool.wts(['workspace', 'use', tool.urlKey], at);
    assert.deepEqual(await rowOf('workspace'), [tool.urlKey, 'profile one']);
    const here = { env, more: { cwd: folder } };
    await tool.wts(['config', 'set', 'workspace', 'of-the-folder', '--here'], here);
    assert.deepEqual(await rowOf('workspace'), ['of-the-folder', join(folder, '.wts')]);
    assert.deepEqual(await rowOf('workspace', { ...at, env: { ...env, WTS_WORKSPACE: 'of-env' } }), [
      'of-env',
      'WTS_WORKSPACE',
    ]);
    assert.deepEqual(await rowOf('workspace', at, '-w', 'of-flag'), ['of-flag', '--workspace']);
    await tool.wts(['config', 'unset', 'workspace', '--here'], here);
    await tool.wts(['config', 'set', 'profile', 'two'], at);
    assert.deepEqual(await rowOf('workspace'), ['of-the-profile', 'profile two']);
    assert.equal((await tool.wts(['config', 'get', 'profile'], at)).out, 'two\n');
    assert.equal((await tool.wts(['config', 'set', 'profile', 'three'], at)).code, 5);
    writeFileSync(join(folder, '.wts'), '{"url": "https://attacker.example"}');
    const { code, err } = await tool.wts(['config', 'list'], at);
    assert.equal(code, 1);
    assert.match(err, /has "url", which it may not have/);
    writeFileSync(join(folder, 'config.json'), '{"profile": "o');
    assert.match(
      (await tool.wts(['whoami'], { env })).err,
      /config\.json cannot be read\.\nIt is not whole or not JSON/,
    );
  });

  /** The titles that a watch prints, until one is the last. */
  const watched = async (last: string, ...argv: string[]): Promise<unknown[]> => {
    const [ending, stdout] = [new AbortController(), new PassThrough()];
    const created = ['--ndjson', '--model', 'task', '--filter', 'action=INSERT'];
    const watching = tool.wts(['watch', ...created, ...argv], { more: { interrupted: ending.signal, stdout } });
    const titles: unknown[] = [];
    for await (const line of createInterface({ input: stdout })) {
      titles.push((JSON.parse(line) as { data: { title: string } }).data.title);
      if (titles.at(-1) === last) break;
    }
    ending.abort();
    const { code, err } = await watching;
    assert.deepEqual([code, err], [130, `${JSON.stringify({ error: INTERRUPTED })}\n`]);
    return titles;
  };

  it('are watched as they change, each change once, also by a later watch with the same cursor [cli.watch.once]', async () => {
    const [first, last] = [`First ${randomUUID()}`, `Last ${randomUUID()}`];
    for (const title of [first, last]) await ok('task', 'add', title);
    const all = parsed(await ok('task', 'list', '--state', 'any', '--json', 'title')).map(({ title }) => title);
    assert.deepEqual(await watched(last, '--since', '0'), all.toReversed());
    const cursor = ['--cursor', 'cursor'];
    await watched(last, ...cursor, '--since', '0');
    await eventually(() => readFileSync(join(tool.folder, 'cursor'), 'utf8'));
    await ok('task', 'add', 'While no watch runs');
    assert.deepEqual(await watched('While no watch runs', ...cursor), ['While no watch runs']);
  });

  it('are watched in one workspace with its private projects, also those made later', async () => {
    const [other, title] = [`cli-${randomUUID().slice(0, 8)}`, randomUUID()];
    await ok('workspace', 'create', 'Other', '--key', other);
    const inProject = async (key: string, workspace: string): Promise<void> => {
      await ok('project', 'add', key, '--private', '--key', key, '-w', workspace);
      await ok('task', 'add', `${title} ${key}`, '-p', key, '-w', workspace);
    };
    await inProject('EARLIER', tool.urlKey);
    await inProject('FOREIGN', other);
    const watching = watched(`${title} last`, '--since', '0');
    await inProject('LATER', tool.urlKey);
    await inProject('ALSO', other);
    await ok('task', 'add', `${title} last`);
    const titles = (await watching).filter((one) => String(one).startsWith(title));
    assert.deepEqual(
      titles,
      ['EARLIER', 'LATER', 'last'].map((word) => `${title} ${word}`),
    );
  });
});
