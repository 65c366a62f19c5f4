import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Project, rankBetween, Task, TaskChecklistItem } from '@wts/models';
import { LIST_WINDOW, UNRANKED_MAX } from '../store/list-windows.ts';
import { PLANS } from '../store/prepared.ts';
import { sharedEngines } from '../../test/shared-engines.ts';
import { type TestEngines, applied, change, only, refused, type TestPerson } from '../../test/test-engines.ts';

describe('a placement [sync.mutate.placement]', function () {
  this.timeout(120_000);
  let engines: TestEngines;
  let owner: TestPerson;
  let workspace: string;
  let taskId: string;

  before(async () => {
    engines = await sharedEngines();
    owner = await engines.person();
  });
  beforeEach(async () => {
    workspace = await engines.workspace(owner);
    taskId = await owner.make('Task', { workspaceId: workspace, title: 'T' });
  });

  const item = (title: string, more: object = {}, id: string = randomUUID()): Promise<string> =>
    owner.make('TaskChecklistItem', { workspaceId: workspace, taskId, title, ...more }, id);
  const unit = (sortOrder: object, title: string) =>
    owner.unit(
      change('INSERT', 'TaskChecklistItem', randomUUID(), { workspaceId: workspace, taskId, title, sortOrder }),
    );
  const ranks = async (): Promise<{ id: string; title: string; rank: string }[]> => {
    const { rows } = await engines.checks.query<{ id: string; title: string; rank: string }>(
      `select id, title, sort_order as rank from sync.task_checklist_items where task_id = $1 order by sort_order collate "C", id`,
      [taskId],
    );
    return rows;
  };
  const order = async (): Promise<string> => (await ranks()).map(({ title }) => title).join(' ');
  /** An id that sorts by its first digit. */
  const idOf = (digit: number): string => `${digit}${randomUUID().slice(1)}`;

  it('is after, before or between records, also of records without a rank', async () => {
    const [a, b, c] = [await item('a', {}, idOf(0)), await item('b', {}, idOf(1)), await item('c', {}, idOf(2))];
    await owner.change('TaskChecklistItem', c, { sortOrder: { before: b } });
    assert.equal(await order(), 'a c b');
    await owner.change('TaskChecklistItem', a, { sortOrder: { after: c } });
    assert.equal(await order(), 'c a b');
    await item('d', { sortOrder: { after: c, before: a } });
    await item('e', { sortOrder: { before: c } });
    await item('f', { sortOrder: { after: b.toUpperCase(), before: null } });
    assert.equal(await order(), 'e c d a b f');
  });

  it('gives different ranks in the right order to records that are placed at one spot at the same time, on several replicas', async () => {
    const [a, z] = [await item('a', { sortOrder: 'a' }), await item('z', { sortOrder: 'b' })];
    const units = Array.from({ length: 60 }, (_, index) => unit(index % 2 === 0 ? { after: a } : { before: z }, 'm'));
    const outcomes = await Promise.all(
      units.map((one, index) => engines.send(one, engines.all[index % engines.all.length])),
    );
    const positions = new Map(
      outcomes.map((outcome, index) => [units[index]!.mutations[0]!.modelId, applied(outcome).lastId]),
    );
    const shown = await ranks();
    assert.equal(new Set(shown.map(({ rank }) => rank)).size, 62);
    assert.deepEqual([shown[0]?.title, shown.at(-1)?.title], ['a', 'z']);
    // Who was committed later is nearer to its neighbor.
    const isAfter = new Map(units.map((one, index) => [one.mutations[0]!.modelId, index % 2 === 0]));
    for (const side of [true, false]) {
      const commits = shown.filter(({ id }) => isAfter.get(id) === side).map(({ id }) => positions.get(id)!);
      assert.deepEqual(
        commits,
        commits.toSorted((x, y) => (side ? 1 : -1) * (x < y ? 1 : -1)),
      );
    }
  });

  it('is decided in order within one batch, where each record names the one before it', async () => {
    const a = await item('a', { sortOrder: 'a' });
    await item('z', { sortOrder: 'b' });
    const ids = Array.from({ length: 50 }, () => randomUUID());
    const outcomes = await engines.any.commit(
      ids.map((id, index) =>
        owner.unit(
          change('INSERT', 'TaskChecklistItem', id, {
            workspaceId: workspace,
            taskId,
            title: String(index),
            sortOrder: { after: ids[index - 1] ?? a },
          }),
        ),
      ),
    );
    outcomes.map(applied);
    assert.equal(await order(), `a ${ids.map((_, index) => index).join(' ')} z`);
  });

  it('moves the records behind it where there is no rank or only one that is too long, and keeps their order', async () => {
    const low = 'm'.repeat(256);
    const a = await item('a', { sortOrder: low });
    await item('y', { sortOrder: `${low.slice(0, 255)}n` });
    await item('z', { sortOrder: 'n' });
    await item('b', { sortOrder: { after: a } });
    assert.equal(await order(), 'a b y z');
    for (let count = 0; count < 120; count += 1) await item('-', { sortOrder: { after: a } });
    const shown = await ranks();
    assert.equal(shown.map(({ title }) => title).join(''), `a${'-'.repeat(120)}byz`);
    assert.equal(new Set(shown.map(({ rank }) => rank)).size, shown.length);
    assert.ok(shown.every(({ rank }) => rank.length <= 256));
  });

  it('adds no entry for a record that is there already, and is a replay when it is sent again', async () => {
    const [a, b] = [await item('a', { sortOrder: 'a' }), await item('b', { sortOrder: 'b' })];
    const head = await engines.head();
    await owner.change('TaskChecklistItem', b, { sortOrder: { after: a } });
    assert.equal(await engines.head(), head);
    const sent = unit({ after: a }, 'c');
    const first = applied(await engines.send(sent));
    await item('d', { sortOrder: { after: a } });
    const before = await ranks();
    assert.equal(applied(await engines.send(sent)).lastId, first.lastId);
    assert.deepEqual(await ranks(), before);
  });

  it('has an entry for each record that it moves, also where the rank of its own record stays', async () => {
    const a = await item('a', { sortOrder: 'a' }, idOf(0));
    const b = await item('b', { sortOrder: 'a' }, idOf(1));
    const c = await item('c', { sortOrder: rankBetween('a', null) });
    const head = await engines.head();
    const { modelId } = await owner.change('TaskChecklistItem', c, { sortOrder: { after: a } });
    assert.equal(modelId, c);
    assert.equal(await order(), 'a c b');
    assert.deepEqual(
      (await engines.entries(head)).map((entry) => [entry.modelId, entry.changed]),
      [[b, ['sortOrder']]],
    );
  });

  it('places a task in its project, or among those in none, and a project in its workspace', async () => {
    const projectId = await owner.make('Project', { workspaceId: workspace, key: 'P', name: 'P', sortOrder: 'p' });
    const inside = await owner.make('Task', { workspaceId: workspace, title: 'I', projectId, sortOrder: 'i' });
    const moved = await owner.make('Task', { workspaceId: workspace, title: 'M' });
    await owner.change('Task', moved, { projectId, sortOrder: { after: inside } });
    const rankOf = async (model: string, id: string) => String((await engines.stored(model, id))!.record['sortOrder']);
    assert.ok((await rankOf('Task', moved)) > 'i');
    const loose = await owner.make('Task', { workspaceId: workspace, title: 'L', sortOrder: { before: taskId } });
    assert.ok((await rankOf('Task', loose)) < (await rankOf('Task', taskId)));
    const other = await owner.make('Project', {
      workspaceId: workspace,
      key: 'O',
      name: 'O',
      sortOrder: { before: projectId },
    });
    assert.ok((await rankOf('Project', other)) < 'p');
  });

  it('shows nothing of private projects that the caller is not in', async () => {
    const member = await engines.join(workspace, 'member');
    const project = (key: string, sortOrder: string | object, more: object = {}) => ({
      workspaceId: workspace,
      key,
      name: key,
      sortOrder,
      ...more,
    });
    const a = await member.make('Project', project('A', 'a'));
    await member.make('Project', project('C', 'c'));
    const hidden = await owner.make('Project', project('B', 'b', { isPrivate: true }));
    const refusal = refused(await member.try('INSERT', 'Project', randomUUID(), project('X', { after: hidden })));
    assert.equal(refusal.code, 'not_found');
    const ranksSeen: unknown[] = [];
    for (const isThere of [true, false]) {
      if (!isThere) applied(await owner.try('DELETE', 'Project', hidden));
      const id = await member.make('Project', project(isThere ? 'Y' : 'Z', { after: a }));
      ranksSeen.push((await engines.stored('Project', id))?.record['sortOrder']);
      applied(await member.try('DELETE', 'Project', id));
    }
    assert.equal(ranksSeen[0], ranksSeen[1]);
  });

  it('changes no record that the caller may not change: beside those it is behind all of their rank, or refused', async () => {
    const guest = await engines.join(workspace, 'guest');
    const others = [taskId, await owner.make('Task', { workspaceId: workspace, title: 'O' })].toSorted();
    const placed = (sortOrder: object) =>
      guest.try('INSERT', 'Task', randomUUID(), { workspaceId: workspace, title: 'G', sortOrder });
    const stored = async () => Promise.all(others.map((id) => engines.stored('Task', id)));
    const before = await stored();
    assert.equal(refused(await placed({ before: others[0] })).code, 'conflict');
    assert.equal(refused(await placed({ after: others[0], before: others[1] })).code, 'conflict');
    assert.ok(String(only(await placed({ after: others[0] })).record['sortOrder']) > '');
    assert.deepEqual(await stored(), before);
    const own = await guest.make('Task', { workspaceId: workspace, title: 'G', sortOrder: 'a' }, idOf(0));
    await guest.make('Task', { workspaceId: workspace, title: 'G', sortOrder: 'a' }, idOf(1));
    only(await placed({ after: own, before: null }));
  });

  it('reads the records near the place only, however many have no rank [never.one-takes-all]', async () => {
    const made = Array.from({ length: 600 }, (_, index) => [
      change('INSERT', 'TaskChecklistItem', randomUUID(), { workspaceId: workspace, taskId, title: 'i' }),
      change('INSERT', 'Task', randomUUID(), { workspaceId: workspace, title: 't' }),
      change('INSERT', 'Project', randomUUID(), { workspaceId: workspace, key: `K${index}`, name: 'p' }),
    ])
      .flat()
      .map((mutation) => owner.unit(mutation));
    for (const outcome of await engines.any.commit(made)) applied(outcome);
    const client = await engines.checks.connect();
    try {
      await client.query('begin; analyze sync.tasks, sync.projects, sync.task_checklist_items');
      for (const [name, value] of Object.entries(PLANS)) await client.query(`set local ${name} = ${value}`);
      for (const [model, parent] of [[Task], [Project], [TaskChecklistItem, taskId]] as const) {
        const { text, types } = LIST_WINDOW(model, parent === undefined ? '' : 'parent');
        await client.query(`prepare near_${model.table}(${types}) as ${text}`);
        for (const rank of ['', 'm']) {
          const values = [workspace, rank, idOf(8), owner.id, ...(parent === undefined ? [] : [parent])];
          const { rows } = await client.query<{ 'QUERY PLAN': string }>(
            `explain (analyze) execute near_${model.table}(${values.map((value) => `'${value}'`).join(', ')})`,
          );
          const plan = rows.map((row) => row['QUERY PLAN']).filter((line) => !line.includes('Bitmap Index Scan'));
          const scanned = plan.flatMap(
            (line) => / Scan .*actual .*rows=(\d+)|Removed by Filter: (\d+)/.exec(line)?.slice(1) ?? [],
          );
          assert.ok(scanned.length > 0);
          assert.ok(Math.max(...scanned.map((count) => Number(count ?? 0))) <= UNRANKED_MAX + 1, plan.join('\n'));
        }
      }
    } finally {
      await client.query('rollback');
      client.release();
    }
  });

  it('is behind all records without a rank where these are too many to be read, before the ranked ones, and never before one of them', async () => {
    const ids = Array.from({ length: UNRANKED_MAX + 1 }, () => randomUUID()).toSorted();
    const values = { workspaceId: workspace, taskId, title: '-' };
    const made = ids.map((id) => owner.unit(change('INSERT', 'TaskChecklistItem', id, values)));
    for (const outcome of await engines.any.commit(made)) applied(outcome);
    const [first, last] = [ids[0] ?? '', ids.at(-1)];
    const z = await item('z', { sortOrder: 'z' });
    await item('b', { sortOrder: { after: first } });
    await item('c', { sortOrder: { after: last, before: z } });
    await item('d', { sortOrder: { before: z } });
    for (const sortOrder of [{ before: last }, { after: first, before: last }])
      assert.equal(refused(await engines.send(unit(sortOrder, 'x'))).code, 'conflict');
    await owner.change('TaskChecklistItem', first, { sortOrder: { before: z } });
    const shown = await ranks();
    assert.equal(shown.map(({ title }) => title).join(''), `${'-'.repeat(UNRANKED_MAX)}cbd-z`);
    assert.deepEqual(
      shown.slice(0, UNRANKED_MAX).map(({ id }) => id),
      ids.slice(1),
    );
    // One fewer is read, and the rest of them moves.
    await item('e', { sortOrder: { after: ids.at(-2) } });
    assert.equal(
      (await ranks())
        .slice(UNRANKED_MAX - 2, UNRANKED_MAX + 2)
        .map(({ title }) => title)
        .join(''),
      '-e-c',
    );
  });

  it('is refused beside a record that is unknown, in another list or the record itself, and in any other form', async () => {
    const [a, b] = [await item('a', { sortOrder: 'a' }), await item('b', { sortOrder: 'b' })];
    const elsewhere = await owner.make('Task', { workspaceId: workspace, title: 'E' });
    const other = await owner.make('TaskChecklistItem', { workspaceId: workspace, taskId: elsewhere, title: 'o' });
    const foreign = await engines.workspace(owner);
    const far = await owner.make('Task', { workspaceId: foreign, title: 'F' });
    const stranger = await engines.person();
    const strange = await engines.workspace(stranger);
    const unseen = await stranger.make('Task', { workspaceId: strange, title: 'S' });
    for (const [model, id, sortOrder, code, text] of [
      ['TaskChecklistItem', a, { after: randomUUID() }, 'not_found', 'sortOrder.after: TaskChecklistItem not found'],
      [
        'TaskChecklistItem',
        a,
        { before: other },
        'validation_failed',
        'sortOrder.before: this TaskChecklistItem is in another list',
      ],
      ['Task', taskId, { before: far }, 'validation_failed', 'sortOrder.before: this Task is in another list'],
      ['Task', taskId, { before: unseen }, 'not_found', 'sortOrder.before: Task not found'],
      ['TaskChecklistItem', a, { after: a }, 'validation_failed', 'sortOrder.after is the record itself'],
      [
        'TaskChecklistItem',
        await item('c'),
        { after: b, before: a },
        'validation_failed',
        'sortOrder.after does not come before sortOrder.before',
      ],
      ...[{}, { after: null }, { after: 'x' }, { after: [a] }, { first: true }, [a]].map(
        (given) =>
          [
            'TaskChecklistItem',
            a,
            given,
            'validation_failed',
            'sortOrder must be a rank, {after: id}, {before: id} or both',
          ] as const,
      ),
    ] as const) {
      const refusal = refused(await owner.try('UPDATE', model, id, { sortOrder }));
      assert.deepEqual([refusal.code, refusal.error], [code, text]);
    }
  });
});
