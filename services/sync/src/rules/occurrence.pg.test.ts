import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ModelRecord } from '@wts/contracts';
import { DatabaseClock } from '../../test/database-clock.ts';
import { applied, change, refused, TestEngines, type TestPerson } from '../../test/test-engines.ts';
import { SYNC_LIMITS } from '../limits.ts';

/** Monday 1 June 2020, and the days after it. */
const day = (number: number): string => `2020-06-${String(number).padStart(2, '0')}`;
const at = (number: number): string => `${day(number)}T09:00:00.000Z`;

describe('completing a task that repeats', () => {
  let engines: TestEngines;
  let clock: DatabaseClock;
  let owner: TestPerson;
  let workspace: string;

  before(async () => {
    engines = await TestEngines.open('occurrence', 3);
    clock = await DatabaseClock.open(engines.database, at(1));
    owner = await engines.person();
    workspace = await engines.workspace(owner);
  });
  after(async () => {
    await clock[Symbol.asyncDispose]();
    await engines[Symbol.asyncDispose]();
  });
  beforeEach(() => clock.set(at(1)));

  const make = (payload: object): Promise<string> =>
    owner.make('Task', { workspaceId: workspace, title: 'Water', startDate: day(1), ...payload });
  const daily = (payload: object = {}): Promise<string> => make({ repeatRule: 'FREQ=DAILY', ...payload });
  const complete = (id: string, number = 1) => owner.change('Task', id, { completedAt: at(number) });
  const daysOf = async (id: string): Promise<string[]> =>
    (await engines.tasksOf(id)).map(
      ({ startDate, completedAt }) => `${String(startDate).slice(8)}${completedAt ? ' done' : ''}`,
    );
  const nextOf = async (id: string): Promise<ModelRecord> => {
    const newest = (await engines.tasksOf(id)).at(-1);
    assert.ok(newest && newest.id !== id, 'no next task');
    return newest;
  };

  it('makes the next one at once, as the entry right behind, and keeps what the client did not send [sync.repeat.completion]', async () => {
    const id = await daily({ priority: 3 });
    const before = await engines.head();
    await complete(id);
    const [done, made, ...more] = await engines.entries(before);
    assert.deepEqual(more, []);
    assert.deepEqual([done?.action, done?.modelId, done?.completes], ['UPDATE', id, true]);
    assert.deepEqual([made?.action, made?.modelName, made?.completes], ['INSERT', 'Task', false]);
    assert.deepEqual(
      [made?.clientTxId, made?.actorId, made?.syncId],
      [done?.clientTxId, owner.id, String(BigInt(done?.syncId ?? '') + 1n)],
    );
    assert.deepEqual(
      done?.changed,
      ['repeatRule', 'repeatAnchor', 'repeatIndex', 'repeatNextDate', 'completedAt'],
      'the rule goes to the next one',
    );
    const next = made?.record;
    assert.deepEqual(
      [next?.['startDate'], next?.['completedAt'], next?.['repeatRule'], next?.['repeatIndex'], next?.['priority']],
      [day(2), null, 'FREQ=DAILY', 2, 3],
    );
    assert.deepEqual([next?.['start'], next?.['repeatNextDate']], ['not_started', day(3)]);
  });

  const CASES: readonly [string, object, { readonly today: number; readonly completed?: number }, string][] = [
    ['late, today is not swallowed', { repeatRule: 'FREQ=DAILY' }, { today: 4 }, day(4)],
    ['early, its own day is not made again', { repeatRule: 'FREQ=DAILY', startDate: day(5) }, { today: 1 }, day(6)],
    [
      'with an interval from completion',
      { repeatRule: 'FREQ=DAILY;INTERVAL=3', repeatFrom: 'completion' },
      { today: 4 },
      day(7),
    ],
    [
      'with weekdays from completion',
      { repeatRule: 'FREQ=WEEKLY;BYDAY=MO,TH', repeatFrom: 'completion' },
      { today: 2 },
      day(4),
    ],
    [
      'late, the phase counts from the first day',
      { repeatRule: 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO' },
      { today: 20 },
      day(29),
    ],
    [
      'as a week ago, the next day is not in the past',
      { repeatRule: 'FREQ=DAILY' },
      { today: 9, completed: 2 },
      day(9),
    ],
    [
      'as of tomorrow, today counts',
      { repeatRule: 'FREQ=DAILY;INTERVAL=3', repeatFrom: 'completion' },
      { today: 4, completed: 5 },
      day(7),
    ],
  ];
  for (const [title, payload, { today, completed = today }, expected] of CASES)
    it(`makes the next one on the right day: completed ${title}`, async () => {
      const id = await make(payload);
      await clock.set(at(today));
      await complete(id, completed);
      assert.equal((await nextOf(id))['startDate'], expected);
    });

  it('makes one next task, however often it is reopened and completed, and takes nothing back [sync.repeat.once]', async () => {
    const id = await daily();
    await complete(id);
    await owner.change('Task', id, { completedAt: null });
    assert.deepEqual(await daysOf(id), ['01', '02']);
    await complete(id);
    assert.deepEqual(await daysOf(id), ['01 done', '02']);
    assert.equal((await nextOf(id))['repeatRule'], 'FREQ=DAILY');
  });

  it('makes one next task for several clients at once, on several replicas, and for repeated changes [sync.repeat.once]', async () => {
    const id = await daily();
    const mutation = change('UPDATE', 'Task', id, { completedAt: at(1) });
    const repeated = owner.unit(mutation, { clientTxId: randomUUID() });
    const units = [repeated, repeated, repeated, ...Array.from({ length: 9 }, () => owner.unit(mutation))];
    const outcomes = await Promise.all(units.map((unit, index) => engines.send(unit, engines.all[index % 3])));
    outcomes.map(applied);
    assert.deepEqual(await daysOf(id), ['01 done', '02']);
  });

  it('and deleting it in one request leaves the next one alone', async () => {
    const id = await daily();
    const mutations = [change('UPDATE', 'Task', id, { completedAt: at(1) }), change('DELETE', 'Task', id)];
    (await engines.any.commit(mutations.map((mutation) => owner.unit(mutation)))).map(applied);
    assert.deepEqual(await daysOf(id), ['02']);
  });

  it('makes the next one behind it with the same properties and a fresh checklist, and without its past', async () => {
    const home = { workspaceId: workspace };
    const teamId = await owner.make('Team', { ...home, key: 'COPY', name: 'T' });
    const projectId = await owner.make('Project', { ...home, key: 'COPY', name: 'P' });
    const label = await owner.make('Label', { ...home, name: 'L' });
    const kept = { description: 'D', priority: 2, teamId, projectId, labelIds: [label], assigneeId: owner.id };
    const id = await daily({
      ...kept,
      deadlineAt: day(3),
      sortOrder: 'b',
      startBucket: 'evening',
      todayIndexReferenceDate: day(1),
    });
    await make({ projectId, sortOrder: 'c' });
    await owner.make('TaskChecklistItem', { ...home, taskId: id, title: 'Step', completedAt: at(1), sortOrder: 'm' });
    await owner.make('Comment', { ...home, taskId: id, body: 'Said' });
    const other = await engines.join(workspace, 'member');
    applied(await other.try('UPDATE', 'Task', id, { completedAt: at(1) }));
    const next = await nextOf(id);
    const { number, sortOrder, ...rest } = next;
    for (const [field, value] of Object.entries({ ...kept, title: 'Water', startBucket: 'evening' }))
      assert.deepEqual(rest[field], value, field);
    assert.deepEqual([rest['startDate'], rest['deadlineAt'], rest['creatorId']], [day(2), day(4), owner.id]);
    assert.deepEqual([rest['todayIndexReferenceDate'], rest['archivedAt']], [null, null]);
    assert.ok(String(sortOrder) > 'b' && String(sortOrder) < 'c', String(sortOrder));
    assert.ok(Number(number) > Number((await engines.stored('Task', id))!.record['number']));
    const { rows } = await engines.checks.query<ModelRecord>(
      `select title, completed_at as "completedAt", sort_order as "sortOrder" from sync.task_checklist_items where task_id = $1`,
      [next.id],
    );
    assert.deepEqual(rows, [{ title: 'Step', completedAt: null, sortOrder: 'm' }]);
    assert.equal((await engines.checks.query('select from sync.comments where task_id = $1', [next.id])).rowCount, 0);
  });

  it('leaves out people who left, and labels and teams that were archived', async () => {
    const home = { workspaceId: workspace };
    const leaver = await engines.person();
    const membershipId = randomUUID();
    await engines.decided(
      leaver.id,
      change('INSERT', 'WorkspaceMember', membershipId, { ...home, userId: leaver.id, role: 'member' }),
    );
    const teamId = await owner.make('Team', { ...home, key: 'GONE', name: 'T' });
    const labels = [
      await owner.make('Label', { ...home, name: 'A' }),
      await owner.make('Label', { ...home, name: 'B' }),
    ];
    const id = await daily({ teamId, labelIds: labels, assigneeId: leaver.id });
    await owner.delete('WorkspaceMember', membershipId);
    applied(await owner.try('ARCHIVE', 'Team', teamId));
    applied(await owner.try('ARCHIVE', 'Label', labels[0]!));
    await complete(id);
    const next = await nextOf(id);
    assert.deepEqual([next['teamId'], next['assigneeId'], next['labelIds']], [null, null, [labels[1]]]);
  });

  it('in a private project makes the next one there, and no entry for others, also when it moves there at once', async () => {
    const projectId = await owner.make('Project', { workspaceId: workspace, key: 'PRIV', name: 'P', isPrivate: true });
    const [inside, moved] = [await daily({ projectId }), await daily()];
    const before = await engines.head();
    await complete(inside);
    assert.deepEqual([...new Set((await engines.entries(before)).map(({ groupId }) => groupId))], [projectId]);
    const middle = await engines.head();
    await owner.change('Task', moved, { completedAt: at(1), projectId });
    assert.deepEqual(
      (await engines.entries(middle)).map(({ action, groupId }) => `${action} ${groupId === projectId}`),
      ['DELETE false', 'INSERT true', 'INSERT true'],
    );
    assert.equal((await nextOf(moved))['projectId'], projectId);
  });

  it('passes on what was changed on the newest task, and nothing that was changed on an older one', async () => {
    const id = await daily();
    await complete(id);
    const second = await nextOf(id);
    await owner.change('Task', id, { title: 'Old' });
    await owner.change('Task', second.id, { title: 'New', repeatRule: 'FREQ=WEEKLY', startDate: day(3) });
    await complete(second.id);
    const third = await nextOf(id);
    assert.deepEqual([third['title'], third['startDate'], third['repeatIndex']], ['New', day(10), 2]);
  });

  it('ends the series with the last by COUNT, which has no rule, and where the rule was removed', async () => {
    const id = await daily({ repeatRule: 'FREQ=DAILY;COUNT=3' });
    await complete(id);
    await complete((await nextOf(id)).id);
    const third = await nextOf(id);
    assert.equal(third['repeatRule'], null);
    await complete(third.id);
    assert.deepEqual(await daysOf(id), ['01 done', '02 done', '03 done']);
    const ended = await daily();
    await owner.change('Task', ended, { repeatRule: null });
    await complete(ended);
    assert.deepEqual(await daysOf(ended), ['01 done']);
    const until = await daily({ repeatRule: 'FREQ=DAILY;UNTIL=20200602' });
    await complete(until);
    await complete((await nextOf(until)).id, 2);
    assert.deepEqual(await daysOf(until), ['01 done', '02 done']);
  });

  it('makes nothing when the rule is set afterwards, until it is reopened and completed again', async () => {
    const id = await make({ completedAt: at(1) });
    await owner.change('Task', id, { repeatRule: 'FREQ=DAILY' });
    assert.deepEqual(await daysOf(id), ['01 done']);
    await owner.change('Task', id, { completedAt: null });
    await complete(id);
    assert.deepEqual(await daysOf(id), ['01 done', '02']);
  });

  it('leaves the others as they are when the first of a series is deleted, without an entry for them', async () => {
    const id = await daily();
    await complete(id);
    const next = await nextOf(id);
    const before = await engines.head();
    await owner.delete('Task', id);
    assert.deepEqual(
      (await engines.entries(before)).map(({ action, modelId }) => [action, modelId]),
      [['DELETE', id]],
    );
    assert.deepEqual((await nextOf(id)).id, next.id);
  });

  it('succeeds without a next one where that cannot be made, and says why [sync.repeat.error]', async () => {
    const id = await daily();
    const items = Array.from({ length: SYNC_LIMITS.repeatChecklistItemsMax + 1 }, () =>
      owner.unit(
        change('INSERT', 'TaskChecklistItem', randomUUID(), { workspaceId: workspace, taskId: id, title: 'x' }),
      ),
    );
    (await engines.any.commit(items)).map(applied);
    await complete(id);
    const { record } = (await engines.stored('Task', id))!;
    assert.match(String(record['repeatError']), /^The next task was not created, because the checklist/);
    assert.deepEqual([record['repeatRule'], record['repeatNextDate']], ['FREQ=DAILY', day(2)]);
    await owner.change('Task', id, { title: 'Shorter' });
    assert.equal((await engines.stored('Task', id))?.record['repeatError'], null);
  });

  it('is refused as before where the caller may not complete it, and then makes nothing', async () => {
    const guest = await engines.join(workspace, 'guest');
    const id = await daily();
    assert.equal(refused(await guest.try('UPDATE', 'Task', id, { completedAt: at(1) })).code, 'forbidden');
    assert.deepEqual(await daysOf(id), ['01']);
    const own = await guest.make('Task', {
      workspaceId: workspace,
      title: 'G',
      startDate: day(1),
      repeatRule: 'FREQ=DAILY',
    });
    await guest.change('Task', own, { completedAt: at(1) });
    assert.equal((await nextOf(own))['creatorId'], guest.id);
  });
});
