import type { Change, SyncClient } from '@wts/client';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { insertion, linesOf, RECORDS, TASKS, TransferSystem, type Report, type Row } from './transfer-system.ts';

describe('a workspace is exported and imported', function transfer() {
  this.timeout(120_000);
  let system: TransferSystem;

  before(async () => (system = await TransferSystem.open('transfer')));

  it('with equal records, archived ones, private projects and the numbers of tasks, and twice makes nothing twice', async () => {
    await system.ok(['export', '--verify', system.exported]);
    const urlKey = `copy-${randomUUID().slice(0, 8)}`;
    const argv = [system.exported, '--new', 'Copy', '--key', urlKey];
    const planned = await system.importOk([...argv, '--dry-run']);
    assert.deepEqual([planned.target, planned.comparison.missing], [null, RECORDS]);
    for (const run of [1, 2]) {
      const { target, comparison } = await system.importOk(argv);
      // The first of the two people of the private project is there already: who creates it is in it.
      assert.deepEqual(comparison.equal, { ...RECORDS, ProjectMember: 1, TeamMember: 1 }, `run ${run}`);
      assert.deepEqual([comparison.missing, comparison.refusedTotal, comparison.sameNumbers], [{}, 0, TASKS]);
      assert.equal(comparison.sha256.target, comparison.sha256.export);
      assert.equal((await system.tasksOf(target.id)).filter(({ projectId }) => projectId === null).length, 125);
    }
    // An export of the copy is one of the source but for the ids and what the server sets.
    const copied = join(system.folder, 'copy');
    await system.ok(['export', urlKey, '--to', copied]);
    await system.ok(['export', '--verify', copied]);
    const titles = (from: string): string[] => linesOf(join(from, 'Task.ndjson')).map(({ title }) => String(title));
    assert.deepEqual(titles(copied), titles(system.exported));
    const archived = (from: string): number =>
      linesOf(join(from, 'Task.ndjson')).filter(({ archivedAt }) => archivedAt !== null).length;
    assert.equal(archived(copied), archived(system.exported));
    assert.ok(archived(copied) > 0);
  });

  it('into files that are the same for the same state, in a folder that holds no other', async () => {
    const again = join(system.folder, 'again');
    await system.ok(['export', system.source.id, '--to', again]);
    const { err: shown } = await system.ok(['export', system.source.id, '--to', again, '--progress-jsonl']);
    const stages = shown.split('\n').filter((line) => line.includes('"stage"'));
    const shownStages = stages.map((line) => (JSON.parse(line) as { stage: string }).stage);
    assert.deepEqual([...new Set(shownStages)], ['read', 'write']);
    const names = readdirSync(again).filter((name) => name.endsWith('.ndjson'));
    assert.deepEqual(readdirSync(again).toSorted(), [...names, 'manifest.json'].toSorted());
    for (const name of names)
      assert.deepEqual(readFileSync(join(again, name)), readFileSync(join(system.exported, name)), name);
    const other = await system.workspace('Other');
    const { code, err } = await system.wts(['export', other.urlKey, '--to', again]);
    assert.equal(code, 2);
    assert.match(err, /holds an export of the workspace source-/);
  });

  it('while others change it: the records are those of one position of the log', async () => {
    const busy = await system.workspace('Busy');
    const ids = Array.from({ length: 40 }, () => randomUUID());
    await system.sync.mutateOrThrow(
      ids.map((id, at) => insertion('Task', id, { workspaceId: busy.id, title: `0 of ${at}` })),
    );
    let isDone = false;
    const writing = (async () => {
      for (let round = 1; !isDone; round += 1) {
        const removed = ids.shift() ?? '';
        const added = randomUUID();
        ids.push(added);
        await system.sync.mutateOrThrow([
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
    const to = join(system.folder, 'busy');
    for (let exports = 0; exports < 3; exports += 1) {
      await system.ok(['export', busy.id, '--to', to]);
      const { position } = JSON.parse(readFileSync(join(to, 'manifest.json'), 'utf8')) as { position: string };
      assert.deepEqual(
        new Map(linesOf(join(to, 'Task.ndjson')).map(({ id, title }) => [id, title])),
        await titlesAt(system.sync, busy.id, position),
      );
    }
    isDone = true;
    await writing;
  });

  it('and later only what changed since: what the target got meanwhile stays', async () => {
    const origin = await system.workspace('Origin');
    const { before, after } = twoStates(origin.id);
    const [first, second] = [join(system.folder, 'first'), join(system.folder, 'second')];
    await system.sync.mutateOrThrow(before);
    await system.ok(['export', origin.id, '--to', first]);
    const urlKey = `moved-${randomUUID().slice(0, 8)}`;
    const { target } = await system.importOk([first, '--new', 'Moved', '--key', urlKey]);
    const own = randomUUID();
    await system.sync.mutateOrThrow([insertion('Task', own, { workspaceId: target.id, title: 'of the target' })]);
    await system.sync.mutateOrThrow(after);
    await system.ok(['export', origin.id, '--to', second]);
    for (const _ of [1, 2]) {
      const { comparison, planned } = await system.importOk([second, '--into', target.id, '--since', first]);
      const { missing, differencesTotal, refusedTotal, equal } = comparison;
      assert.deepEqual([missing, differencesTotal, refusedTotal], [{}, 0, 0]);
      assert.deepEqual([equal['Task'], equal['Comment']], [7, 6]);
      assert.deepEqual([planned?.['INSERT'], planned?.['DELETE'], planned?.['ARCHIVE']], [3, 3, 1]);
    }
    const titles = (await system.tasksOf(target.id)).map(({ title }) => String(title)).toSorted();
    const expected = 'Changed, added, archived, moved, of the target, repeating, repeating, restored';
    assert.equal(titles.join(', '), expected);
    const other = await system.wts(['import', second, '--into', target.id, '--since', system.exported]);
    assert.deepEqual([other.code, other.err.includes('holds an export of another workspace')], [2, true]);
  });

  it('as far as the exporting person sees it: the manifest says what is not included', async () => {
    const boss = await system.testSystem.member('Bea', 'owner', system.source.id);
    const plain = await system.testSystem.member('Cy', 'member', system.source.id);
    const expected = [
      [boss, 'Private project S (Secret), which you are not in'],
      [plain, 'Private projects that you are not in, if there are any'],
    ] as const;
    for (const [person, sentence] of expected) {
      const to = join(system.folder, `of-${person.name}`);
      const { err } = await system.ok(['export', system.source.id, '--to', to], {
        WTS_TOKEN: await system.keyOf(person),
      });
      assert.match(err, new RegExp(sentence.replaceAll(/[()]/g, '\\$&')));
      assert.equal(linesOf(join(to, 'Project.ndjson')).length, 1);
      assert.deepEqual(linesOf(join(to, 'Task.ndjson')).length, TASKS / 2);
    }
  });

  it('with its settings, and its people by a map, by their addresses, and else as who imports', async () => {
    const target = await system.workspace('People');
    const other = await system.testSystem.member('Dee', 'member', target.id);
    const assignees = async (): Promise<Set<unknown>> =>
      new Set((await system.tasksOf(target.id)).map(({ assigneeId }) => assigneeId));
    const map = join(system.folder, 'people.json');
    writeFileSync(map, JSON.stringify({ [system.member.userId]: other.userId }));
    const { people } = await system.importOk([system.exported, '--into', target.id, '--people', map, '--settings']);
    assert.deepEqual(
      new Map(people.map(({ to, by }) => [by, to?.userId])),
      new Map([
        ['email', system.testSystem.userId],
        ['map', other.userId],
      ]),
    );
    assert.deepEqual(await assignees(), new Set([null, other.userId]));
    const { records } = await system.sync.bootstrap({ syncGroups: target.id, onlyModels: 'Workspace' });
    const [settings] = (await Array.fromAsync(records)).flat() as readonly object[] as readonly Row[];
    assert.equal(settings?.['timeZone'], 'Europe/Berlin');
    const { out } = await system.wts(['import', system.exported, '--new', 'Elsewhere', '--dry-run', '--json']);
    assert.deepEqual((JSON.parse(out) as Report).people.map(({ by }) => by).toSorted(), ['email', 'importer']);
  });
});

/** Changes that fill a workspace, and later ones of every kind. */
function twoStates(workspaceId: string): { readonly before: readonly Change[]; readonly after: readonly Change[] } {
  const [open, secret, label, added] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const titles = ['changed', 'deleted', 'archived', 'restored', 'moved', 'repeating'] as const;
  const ids = new Map(titles.map((title) => [title, randomUUID()]));
  const insert = (model: string, id: string, fields: object): Change =>
    insertion(model, id, { workspaceId, ...fields });
  const comment = (taskId: string): Change => insert('Comment', randomUUID(), { taskId, body: 'A comment' });
  const change = (title: (typeof titles)[number], action: string, payload: object = {}): Change =>
    ({ modelName: 'Task', modelId: ids.get(title), action, payload }) as object as Change;
  const rule = { repeatRule: 'FREQ=DAILY;COUNT=5', startDate: '2999-01-01' };
  const before = [
    insert('Project', open, { key: 'P', name: 'Project' }),
    insert('Project', secret, { key: 'S', name: 'Secret', isPrivate: true }),
    insert('Label', label, { name: 'old' }),
    ...[...ids].flatMap(([title, id]) => [
      insert('Task', id, { title, projectId: open, labelIds: [label], ...(title === 'repeating' ? rule : {}) }),
      comment(id),
    ]),
    change('restored', 'ARCHIVE'),
  ];
  const after: readonly Change[] = [
    change('changed', 'UPDATE', { title: 'Changed', priority: 1 }),
    change('deleted', 'DELETE'),
    change('archived', 'ARCHIVE'),
    change('restored', 'UNARCHIVE'),
    change('moved', 'UPDATE', { projectId: secret }),
    change('repeating', 'UPDATE', { completedAt: '2026-01-01T00:00:00Z' }),
    { modelName: 'Label', modelId: label, action: 'DELETE' },
    insert('Task', added, { title: 'added' }),
    comment(added),
  ];
  return { before, after };
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
