import { runWts, type TestRun } from '@wts/cli/test-run';
import { SyncClient } from '@wts/client';
import type { Change } from '@wts/client';
import { createApiClient } from '@wts/client/api';
import type { ApiClient } from '@wts/client/api';
import { eventually, scratch, type Person, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { openGate, type Verdict } from './cli-gate.ts';
import { sharedSystem } from './shared-system.ts';

type Row = Readonly<Record<string, unknown>> & { readonly id: string };

interface Report {
  readonly target: { readonly id: string };
  readonly people: readonly { readonly to: { readonly userId: string } | null; readonly by: string }[];
  readonly refusedPath: string;
  readonly comparison: {
    readonly equal: Readonly<Record<string, number>>;
    readonly missing: Readonly<Record<string, number>>;
    readonly differencesTotal: number;
    readonly refusedTotal: number;
    readonly sameNumbers: number;
    readonly sha256: { readonly export: string; readonly target: string };
  };
}

const MAIN = join(import.meta.dirname, '../../packages/cli/src/main.ts');
const TASKS = 250;
/** All of the workspace that is exported, without its members. */
const RECORDS = {
  Comment: 75,
  Label: 1,
  Project: 2,
  ProjectMember: 2,
  Task: TASKS,
  TaskChecklistItem: 25,
  Team: 1,
  TeamMember: 1,
};
/** A run whose files are the same as those of another run, but for the times. */
const INSERTED = Object.values(RECORDS).reduce((sum, count) => sum + count, 0);

describe('a workspace is exported and imported', function transfer() {
  this.timeout(120_000);
  let testSystem: TestSystem;
  let api: ApiClient;
  let sync: SyncClient;
  let member: Person;
  let source: { readonly id: string; readonly urlKey: string };
  const folder = scratch('transfer');
  /** The export of the source. */
  const exported = join(folder, 'source');

  const wts = (argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<TestRun> =>
    runWts(argv, {
      env: { WTS_URL: testSystem.baseUrl, WTS_TOKEN: testSystem.apiKey, WTS_CONFIG_DIR: folder, ...env },
      more: { cwd: folder },
    });
  const ok = async (argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<TestRun> => {
    const done = await wts(argv, env);
    assert.equal(done.code, 0, `${argv.join(' ')}: ${done.err}`);
    return done;
  };
  const importOk = async (argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Report> =>
    JSON.parse((await ok(['import', ...argv, '--json'], env)).out) as Report;
  const workspace = async (name: string): Promise<{ readonly id: string; readonly urlKey: string }> =>
    (await api.createWorkspace({ name, urlKey: `${name.toLowerCase()}-${randomUUID().slice(0, 8)}` })).workspace;
  const keyOf = async (person: Pick<Person, 'userId'>): Promise<string> =>
    (await testSystem.keyOf(person, { permissions: 'full-access' })).token;
  const tasksOf = async (workspaceId: string): Promise<readonly Row[]> => {
    const { records } = await sync.bootstrap({ onlyModels: 'Task' });
    const all: readonly Row[] = (await Array.fromAsync(records)).flat();
    return all.filter((task) => task['workspaceId'] === workspaceId);
  };

  before(async () => {
    testSystem = await sharedSystem();
    const { baseUrl, apiKey: token } = testSystem;
    api = createApiClient({ baseUrl, token });
    sync = new SyncClient({ baseUrl, token });
    source = await workspace('Source');
    member = await testSystem.member('Ana', 'member', source.id);
    const changes = changesOf(source.id, member.userId);
    for (let at = 0; at < changes.length; at += 100) await sync.mutateOrThrow(changes.slice(at, at + 100));
    await ok(['export', source.urlKey, '--to', exported]);
  });

  it('with equal records, archived ones, private projects and the numbers of tasks, and twice makes nothing twice', async () => {
    await ok(['export', '--verify', exported]);
    const urlKey = `copy-${randomUUID().slice(0, 8)}`;
    const argv = [exported, '--new', 'Copy', '--url-key', urlKey];
    const planned = await importOk([...argv, '--dry-run']);
    assert.deepEqual([planned.target, planned.comparison.missing], [null, RECORDS]);
    for (const run of [1, 2]) {
      const { target, comparison } = await importOk(argv);
      // The first of the two people of the private project is there already: who creates it is in it.
      assert.deepEqual(comparison.equal, { ...RECORDS, ProjectMember: 1, TeamMember: 1 }, `run ${run}`);
      assert.deepEqual([comparison.missing, comparison.refusedTotal, comparison.sameNumbers], [{}, 0, TASKS]);
      assert.equal(comparison.sha256.target, comparison.sha256.export);
      assert.equal((await tasksOf(target.id)).filter(({ projectId }) => projectId === null).length, 125);
    }
    // An export of the copy is one of the source but for the ids and what the server sets.
    const copied = join(folder, 'copy');
    await ok(['export', urlKey, '--to', copied]);
    await ok(['export', '--verify', copied]);
    const titles = (from: string): string[] => linesOf(join(from, 'Task.ndjson')).map(({ title }) => String(title));
    assert.deepEqual(titles(copied), titles(exported));
    const archived = (from: string): number =>
      linesOf(join(from, 'Task.ndjson')).filter(({ archivedAt }) => archivedAt !== null).length;
    assert.equal(archived(copied), archived(exported));
    assert.ok(archived(copied) > 0);
  });

  it('into files that are the same for the same state, in a folder that holds no other', async () => {
    const again = join(folder, 'again');
    for (const _ of [1, 2]) await ok(['export', source.id, '--to', again]);
    const names = readdirSync(again).filter((name) => name.endsWith('.ndjson'));
    assert.deepEqual(readdirSync(again).toSorted(), [...names, 'manifest.json'].toSorted());
    for (const name of names)
      assert.deepEqual(readFileSync(join(again, name)), readFileSync(join(exported, name)), name);
    const other = await workspace('Other');
    const { code, err } = await wts(['export', other.urlKey, '--to', again]);
    assert.equal(code, 2);
    assert.match(err, /holds an export of the workspace source-/);
  });

  it('while others change it: the records are those of one position of the log', async () => {
    const busy = await workspace('Busy');
    const ids = Array.from({ length: 40 }, () => randomUUID());
    await sync.mutateOrThrow(ids.map((id, at) => insertion('Task', id, { workspaceId: busy.id, title: `0 of ${at}` })));
    let isDone = false;
    const writing = (async () => {
      for (let round = 1; !isDone; round += 1) {
        const removed = ids.shift() ?? '';
        const added = randomUUID();
        ids.push(added);
        await sync.mutateOrThrow([
          { modelName: 'Task', modelId: removed, action: 'DELETE' },
          insertion('Task', added, { workspaceId: busy.id, title: `added in ${round}` }),
          ...ids.slice(0, 30).map((modelId) => ({
            modelName: 'Task' as const,
            modelId,
            action: 'UPDATE' as const,
            payload: { title: `${round} of ${modelId}` },
          })),
        ]);
      }
    })();
    const to = join(folder, 'busy');
    for (let exports = 0; exports < 3; exports += 1) {
      await ok(['export', busy.id, '--to', to]);
      const { position } = JSON.parse(readFileSync(join(to, 'manifest.json'), 'utf8')) as { position: string };
      assert.deepEqual(
        new Map(linesOf(join(to, 'Task.ndjson')).map(({ id, title }) => [id, title])),
        await titlesAt(sync, busy.id, position),
      );
    }
    isDone = true;
    await writing;
  });

  it('although the export is killed: the folder is incomplete until the same command has run again', async () => {
    const to = join(folder, 'killed');
    await using gate = await openGate(testSystem.baseUrl, (path, before) =>
      path === '/sync/bootstrap' && before === 1 ? 'hold' : 'pass',
    );
    await killedWhen(gate.url, ['export', source.id, '--to', to], () => gate.counts.get('/sync/bootstrap') === 2);
    assert.deepEqual(existsSync(join(to, 'manifest.json')), false);
    const { code, err } = await wts(['import', to, '--into', source.id]);
    assert.deepEqual([code, err.split('\n')[0]], [1, `The export in ${to} is incomplete: it has no manifest.json.`]);
    await ok(['export', source.id, '--to', to]);
    await ok(['export', '--verify', to]);
  });

  it('although the disk is full at first: the folder is incomplete, and the same command works when there is space', async () => {
    const to = join(folder, 'full');
    const command = `ulimit -f 100; exec "$0" "$@"`;
    const words = [process.execPath, MAIN, 'export', source.id, '--to', to];
    const child = spawn('sh', ['-c', command, ...words], { env: programEnv(testSystem.baseUrl), stdio: 'pipe' });
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    assert.deepEqual(
      [code, said.split('\n')[0]],
      [1, `The disk is full: ${join(to, '.partial', 'Task.ndjson')} could not be written.`],
    );
    const { code: refused, err } = await wts(['import', to, '--into', source.id]);
    assert.deepEqual([refused, err.includes('is incomplete')], [1, true]);
    await ok(['export', source.id, '--to', to]);
    await ok(['export', '--verify', to]);
  });

  it('although the import is killed: the same command goes on, and makes nothing twice', async () => {
    const target = await workspace('Killed');
    let isHeld = true;
    await using gate = await openGate(testSystem.baseUrl, (path, before) =>
      isHeld && path === '/sync/mutate' && before >= 6 ? 'hold' : 'pass',
    );
    const argv = ['import', exported, '--into', target.id];
    await killedWhen(gate.url, argv, () => gate.counts.get('/sync/mutate') === 7);
    const begun = (await tasksOf(target.id)).length;
    assert.ok(begun > 0 && begun < TASKS, `${begun} tasks are there`);
    isHeld = false;
    const before = gate.counts.get('/sync/mutate') ?? 0;
    const { comparison } = await importOk(argv.slice(1), { WTS_URL: gate.url });
    assert.deepEqual(comparison.equal['Task'], TASKS);
    assert.equal((await tasksOf(target.id)).length, comparison.equal['Task']);
    const sent = (gate.counts.get('/sync/mutate') ?? 0) - before;
    assert.ok(sent < INSERTED / 100 + 8, `it sent ${sent} requests again`);
  });

  it('over a connection that loses answers, and a service that limits the rate, once', async () => {
    const target = await workspace('Lossy');
    const losses: readonly Verdict[] = ['pass', 'limit', 'cut', 'pass', 'cut'];
    await using gate = await openGate(testSystem.baseUrl, (path, before) =>
      path === '/sync/mutate'
        ? (losses[before] ?? 'pass')
        : path === '/sync/bootstrap' && before === 0
          ? 'limit'
          : 'pass',
    );
    const { comparison } = await importOk([exported, '--into', target.id], { WTS_URL: gate.url });
    assert.deepEqual([comparison.equal['Task'], comparison.refusedTotal], [TASKS, 0]);
    assert.equal((await tasksOf(target.id)).length, comparison.equal['Task']);
  });

  it('without what the service refuses: each refusal has its reason, and the exit code is 9', async () => {
    const target = await workspace('Taken');
    await sync.mutateOrThrow([
      insertion('Team', randomUUID(), { workspaceId: target.id, key: 'ENG', name: 'Another' }),
    ]);
    const done = await wts(['import', exported, '--into', target.id, '--json']);
    assert.equal(done.code, 9, done.err);
    const { comparison, refusedPath } = JSON.parse(done.out) as Report;
    const refusals = linesOf(refusedPath);
    assert.equal(comparison.refusedTotal, refusals.length);
    const reasons = new Set(refusals.map(({ model, error }) => `${String(model)}: ${String(error)}`));
    assert.ok(reasons.has('Team: Another Team has this key'), [...reasons].join('; '));
    assert.ok(reasons.has('Project: teamId: Team not found'), [...reasons].join('; '));
    assert.equal(comparison.equal['Label'], 1);
    assert.match(done.err, /\d+ refused, 0 different, 0 missing/);
  });

  it('with a task whose rule has ended since, but without that rule', async () => {
    const target = await workspace('Ended');
    const ended = join(folder, 'ended');
    await ok(['export', source.id, '--to', ended]);
    rewrite(ended, 'Task', (task) =>
      task['number'] === 10 ? { ...task, repeatRule: 'FREQ=DAILY;UNTIL=20200101', startDate: '2020-01-01' } : task,
    );
    const done = await wts(['import', ended, '--into', target.id, '--json']);
    assert.equal(done.code, 9);
    const { comparison, refusedPath } = JSON.parse(done.out) as Report;
    assert.deepEqual([comparison.refusedTotal, comparison.missing, comparison.equal['Comment']], [1, {}, 75]);
    assert.match(String(linesOf(refusedPath)[0]?.['error']), /repeatRule is over/);
    assert.equal((await tasksOf(target.id)).length, TASKS);
  });

  it('with --keep-ids only where the ids are free', async () => {
    const target = await workspace('Same');
    const done = await wts(['import', exported, '--into', target.id, '--keep-ids', '--json']);
    assert.equal(done.code, 9);
    const { comparison, refusedPath } = JSON.parse(done.out) as Report;
    assert.deepEqual(comparison.equal, {});
    assert.ok(linesOf(refusedPath).some(({ error }) => error === 'A Label with this id already exists'));
    assert.deepEqual(await tasksOf(target.id), []);
    const other = await wts(['import', exported, '--into', target.id]);
    assert.deepEqual([other.code, other.err.split('\n')[0]], [2, 'This import was begun with --keep-ids.']);
  });

  it('by who may change the target: a guest, a read-only key and a deleted workspace are refused at once', async () => {
    const target = await workspace('Closed');
    const guest = await testSystem.member('Gil', 'guest', target.id);
    const asGuest = await wts(['import', exported, '--into', target.id], { WTS_TOKEN: await keyOf(guest) });
    assert.deepEqual([asGuest.code, asGuest.err.includes('As a guest of closed-')], [6, true]);
    const { token } = await testSystem.keyOf({ userId: testSystem.userId }, { permissions: 'read-only' });
    const readOnly = await wts(['import', exported, '--into', target.id], { WTS_TOKEN: token });
    assert.equal(readOnly.code, 4, readOnly.err);
    await api.deleteWorkspace({ workspaceId: target.id, urlKey: target.urlKey });
    const deleted = await wts(['import', exported, '--into', target.id]);
    assert.deepEqual([deleted.code, deleted.err.includes('is deleted, so nothing can be imported')], [6, true]);
    assert.deepEqual(await tasksOf(target.id), []);
    const { err } = await ok(['export', target.urlKey, '--to', join(folder, 'deleted')]);
    assert.match(err, /The workspace is deleted; it was exported as it is now/);
    const unknown = await wts(['export', randomUUID(), '--to', join(folder, 'unknown')]);
    assert.deepEqual([unknown.code, existsSync(join(folder, 'unknown'))], [5, false]);
  });

  it('as far as the exporting person sees it: the manifest says what is not included', async () => {
    const boss = await testSystem.member('Bea', 'owner', source.id);
    const plain = await testSystem.member('Cy', 'member', source.id);
    const expected = [
      [boss, 'Private project S (Secret), which you are not in'],
      [plain, 'Private projects that you are not in, if there are any'],
    ] as const;
    for (const [person, sentence] of expected) {
      const to = join(folder, `of-${person.name}`);
      const { err } = await ok(['export', source.id, '--to', to], { WTS_TOKEN: await keyOf(person) });
      assert.match(err, new RegExp(sentence.replaceAll(/[()]/g, '\\$&')));
      assert.equal(linesOf(join(to, 'Project.ndjson')).length, 1);
      assert.deepEqual(linesOf(join(to, 'Task.ndjson')).length, TASKS / 2);
    }
  });

  it('with its people by a map, by their addresses, and else as who imports', async () => {
    const target = await workspace('People');
    const other = await testSystem.member('Dee', 'member', target.id);
    const assignees = async (): Promise<Set<unknown>> =>
      new Set((await tasksOf(target.id)).map(({ assigneeId }) => assigneeId));
    const map = join(folder, 'people.json');
    writeFileSync(map, JSON.stringify({ [member.userId]: other.userId }));
    const { people } = await importOk([exported, '--into', target.id, '--people', map]);
    assert.deepEqual(
      new Map(people.map(({ to, by }) => [by, to?.userId])),
      new Map([
        ['email', testSystem.userId],
        ['map', other.userId],
      ]),
    );
    assert.deepEqual(await assignees(), new Set([null, other.userId]));
    const { out } = await wts(['import', exported, '--new', 'Elsewhere', '--dry-run', '--json']);
    assert.deepEqual((JSON.parse(out) as Report).people.map(({ by }) => by).toSorted(), ['email', 'importer']);
  });

  it('not into a key that is taken, and not from a folder that is none', async () => {
    const taken = await wts(['import', exported, '--new', 'Taken', '--url-key', source.urlKey]);
    assert.deepEqual([taken.code, taken.err.includes(`There is a workspace ${source.urlKey} already`)], [6, true]);
    for (const argv of [
      ['import', exported],
      ['import', folder, '--into', source.id],
      ['export', source.id],
    ])
      assert.equal((await wts(argv)).code, 2, argv.join(' '));
    const moved = join(folder, 'moved');
    await ok(['export', source.id, '--to', moved]);
    renameSync(join(moved, 'Task.ndjson'), join(moved, 'Tasks.ndjson'));
    const { code, err } = await wts(['import', moved, '--into', source.id]);
    assert.deepEqual([code, err.split('\n')[0]], [1, 'Task.ndjson is missing.']);
  });

  function programEnv(url: string): NodeJS.ProcessEnv {
    return { ...process.env, WTS_URL: url, WTS_TOKEN: testSystem.apiKey, WTS_CONFIG_DIR: folder };
  }

  /** Runs a command as a program and kills it when the condition holds. */
  async function killedWhen(url: string, argv: readonly string[], condition: () => boolean): Promise<void> {
    const child = spawn(process.execPath, [MAIN, ...argv], { env: programEnv(url), stdio: 'ignore' });
    const ended = once(child, 'exit');
    try {
      await eventually(condition);
    } finally {
      child.kill('SIGKILL');
    }
    const [code, signal] = (await ended) as [number | null, string | null];
    assert.deepEqual([code, signal], [null, 'SIGKILL']);
  }
});

function insertion(modelName: string, modelId: string, payload: object): Change {
  return { modelName, modelId, action: 'INSERT', payload } as object as Change;
}

/** A workspace with something of everything. */
function changesOf(workspaceId: string, assigneeId: string): readonly Change[] {
  const [team, open, secret, label] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const insert = (model: string, id: string, payload: object): Change =>
    insertion(model, id, { workspaceId, ...payload });
  const changes = [
    insert('Team', team, { key: 'ENG', name: 'Engineering' }),
    insertion('TeamMember', randomUUID(), { teamId: team, userId: assigneeId }),
    insert('Project', open, { key: 'P', name: 'Project', teamId: team, status: 'done' }),
    insert('Project', secret, { key: 'S', name: 'Secret', isPrivate: true }),
    insertion('ProjectMember', randomUUID(), { projectId: secret, userId: assigneeId }),
    insert('Label', label, { name: 'bug 🐞', color: '#ff0000' }),
  ];
  for (let number = 1; number <= TASKS; number += 1) {
    const id = randomUUID();
    const repeats = number % 50 === 0 ? { repeatRule: 'FREQ=WEEKLY;COUNT=5', startDate: '2999-01-01' } : {};
    const fields = { title: `Task ${number}\n`, labelIds: [label], assigneeId: number % 3 === 0 ? assigneeId : null };
    changes.push(insert('Task', id, { ...fields, ...repeats, projectId: number % 2 === 0 ? secret : null }));
    if (number % 10 === 0) {
      const thread = [randomUUID(), randomUUID(), randomUUID()];
      changes.push(insert('TaskChecklistItem', randomUUID(), { taskId: id, title: 'Item' }));
      for (const [at, comment] of thread.entries())
        changes.push(insert('Comment', comment, { taskId: id, body: `Level ${at}`, parentId: thread[at - 1] ?? null }));
      changes.push({ modelName: 'Task', modelId: id, action: 'ARCHIVE' });
    }
  }
  return changes;
}

function linesOf(path: string): readonly Row[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line) as Row);
}

/** Changes records of an export, with the manifest that such an export would have. */
function rewrite(folder: string, model: string, change: (row: Row) => Row): void {
  const path = join(folder, `${model}.ndjson`);
  const lines = linesOf(path)
    .map((row) => `${JSON.stringify(change(row))}\n`)
    .join('');
  writeFileSync(path, lines);
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as { files: { model: string }[] };
  const sha256 = createHash('sha256').update(lines).digest('hex');
  const files = manifest.files.map((file) =>
    file.model === model ? { ...file, bytes: Buffer.byteLength(lines), sha256 } : file,
  );
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, files }));
}

/** The titles of the tasks of a workspace as the log says they were. */
async function titlesAt(sync: SyncClient, groupId: string, position: string): Promise<ReadonlyMap<string, unknown>> {
  const titles = new Map<string, unknown>();
  for (let [after, hasMore] = ['0', true]; hasMore;) {
    const page = await sync.deltas(after, { limit: 5000 });
    for (const one of page.actions) {
      if (one.groupId !== groupId || one.modelName !== 'Task' || BigInt(one.syncId) > BigInt(position)) continue;
      if (one.action === 'DELETE') titles.delete(one.modelId);
      else if ('title' in one.data) titles.set(one.modelId, one.data.title);
    }
    ({ lastSyncId: after, hasMore } = page);
    if (BigInt(after) >= BigInt(position)) break;
  }
  return titles;
}
