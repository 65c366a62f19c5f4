import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sharedWithOwner } from '../../test/shared-engines.ts';
import { type TestEngines, only, refused, type TestPerson } from '../../test/test-engines.ts';

describe('the fields by which a task repeats', () => {
  let engines: TestEngines;
  let owner: TestPerson;
  let workspace: string;

  before(async () => ({ engines, owner, workspace } = await sharedWithOwner()));

  const insert = (payload: object, id: string = randomUUID()) =>
    owner.try('INSERT', 'Task', id, { workspaceId: workspace, title: 'Water the plants', ...payload });
  const make = (payload: object): Promise<string> =>
    owner.make('Task', { workspaceId: workspace, title: 'Water the plants', ...payload });
  /** The fields of the series without their common prefix, and the days. */
  const seriesOf = async (id: string): Promise<Record<string, unknown>> => {
    const { record } = (await engines.stored('Task', id))!;
    const shown = Object.entries(record).filter(([name]) => /^repeat|^startDate|^deadlineAt/.test(name));
    return Object.fromEntries(shown.map(([name, value]) => [name.replace(/^repeat/, '').toLowerCase(), value]));
  };
  const error = async (outcome: ReturnType<typeof insert>): Promise<string> => refused(await outcome).error;
  const weekly = { repeatRule: 'FREQ=WEEKLY;COUNT=5', startDate: '2026-06-01', deadlineAt: '2026-06-03' };

  it('follow from its rule and its days, whatever a client sends for them [sync.repeat.fields]', async () => {
    const given = { repeatAnchor: '2001-01-01', repeatIndex: 9, repeatTemplateId: randomUUID(), repeatError: 'x' };
    const id = await make({ ...weekly, ...given, repeatNextDate: '2001-01-01', repeatWaiting: true });
    assert.deepEqual(await seriesOf(id), {
      startdate: '2026-06-01',
      deadlineat: '2026-06-03',
      rule: weekly.repeatRule,
      from: 'date',
      anchor: '2026-06-01',
      index: 1,
      templateid: id,
      nextdate: '2026-06-08',
      waiting: false,
      error: null,
    });
    assert.equal((await owner.change('Task', id, { ...given, title: 'More' })).record['repeatIndex'], 1);
  });

  it('are empty without a rule, also after a rule was removed, which leaves the id of the series', async () => {
    const none = { rule: null, from: 'date', anchor: null, index: null, nextdate: null, waiting: false, error: null };
    const dates = { startdate: null, deadlineat: null };
    assert.deepEqual(await seriesOf(await make({})), { ...none, ...dates, templateid: null });
    const ruleless = await make({ repeatFrom: 'completion' });
    await owner.change('Task', ruleless, { repeatFrom: 'completion', title: 'Water them' });
    assert.deepEqual(await seriesOf(ruleless), { ...none, ...dates, templateid: null });
    const id = await make({ repeatRule: 'FREQ=DAILY', repeatFrom: 'completion' });
    await owner.change('Task', id, { repeatRule: null });
    assert.deepEqual(await seriesOf(id), { ...none, ...dates, templateid: id });
    const before = await engines.head();
    await owner.change('Task', id, { repeatRule: 'FREQ=DAILY', repeatFrom: 'completion' });
    const [entry] = await engines.entries(before);
    const again = await seriesOf(id);
    assert.notEqual(again['templateid'], id, 'another series, because a newer task may have the rule of the first');
    assert.deepEqual(entry?.changed, ['repeatRule', 'repeatFrom', 'repeatAnchor', 'repeatIndex', 'repeatTemplateId']);
  });

  it('begin anew with its own day when the rule, its kind or that day is changed', async () => {
    const id = await make(weekly);
    await owner.change('Task', id, { startDate: '2026-06-10' });
    const moved = await seriesOf(id);
    assert.deepEqual([moved['anchor'], moved['nextdate'], moved['templateid']], ['2026-06-10', '2026-06-17', id]);
    await owner.change('Task', id, { deadlineAt: '2026-07-01' });
    assert.deepEqual({ ...(await seriesOf(id)), deadlineat: moved['deadlineat'] }, moved);
    await owner.change('Task', id, { repeatRule: 'FREQ=DAILY' });
    assert.deepEqual((await seriesOf(id))['nextdate'], '2026-06-11');
    await owner.change('Task', id, { repeatFrom: 'completion' });
    assert.deepEqual((await seriesOf(id))['nextdate'], null);
  });

  it('count from the day of the time zone of the workspace where the task has no day', async () => {
    const zones = ['Pacific/Kiritimati', 'Pacific/Pago_Pago'];
    const anchors = [];
    for (const timeZone of zones) {
      await owner.change('Workspace', workspace, { timeZone });
      anchors.push((await seriesOf(await make({ repeatRule: 'FREQ=DAILY', repeatFrom: 'completion' })))['anchor']);
    }
    await owner.change('Workspace', workspace, { timeZone: 'UTC' });
    // Their clocks differ by 25 hours.
    assert.ok(String(anchors[0]) > String(anchors[1]), anchors.join(' '));
  });

  it('are refused for a rule by date without a day, one that is over, and one that never comes [sync.mutate.repeat-rule]', async () => {
    const needs = 'repeatRule needs a startDate or a deadlineAt, or repeatFrom: completion';
    assert.equal(await error(insert({ repeatRule: 'FREQ=DAILY' })), needs);
    const id = await make(weekly);
    assert.equal(await error(owner.try('UPDATE', 'Task', id, { startDate: null, deadlineAt: null })), needs);
    await owner.change('Task', id, { startDate: null, deadlineAt: null, repeatFrom: 'completion' });
    const over = { ...weekly, repeatRule: 'FREQ=DAILY;UNTIL=20200101' };
    assert.equal(await error(insert(over)), 'repeatRule is over: the day of its UNTIL has passed');
    const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');
    await make({ ...weekly, repeatRule: `FREQ=DAILY;UNTIL=${today}` });
    const never = { ...weekly, repeatRule: 'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30' };
    assert.equal(await error(insert(never)), 'repeatRule has no day in the next 30 years');
    const far = { ...weekly, repeatRule: 'FREQ=YEARLY;INTERVAL=9999' };
    assert.equal(await error(owner.try('UPDATE', 'Task', id, far)), 'repeatRule has no day in the next 30 years');
    await owner.change('Task', id, { ...weekly, repeatRule: 'FREQ=MONTHLY;BYMONTHDAY=31' });
  });

  it('name no next day after the year 9999 and say why, but not at the end by UNTIL [sync.repeat.error]', async () => {
    const id = await make({ repeatRule: 'FREQ=DAILY', startDate: '9999-12-30' });
    const due = async (task = id): Promise<unknown[]> => {
      const { nextdate, error: said } = await seriesOf(task);
      return [nextdate, said];
    };
    assert.deepEqual(await due(), ['9999-12-31', null]);
    const why = 'There is no next task, because the repeatRule has no later day';
    await owner.change('Task', id, { repeatSkip: true });
    assert.deepEqual(await due(), [null, why]);
    await owner.change('Task', id, { completedAt: '2026-06-02T10:00:00.000Z' });
    assert.deepEqual(await due(), [null, why]);
    await owner.change('Task', id, { completedAt: null, startDate: '9999-12-01' });
    assert.deepEqual(await due(), ['9999-12-02', null]);
    const year = new Date().getUTCFullYear() + 1;
    const last = await make({ repeatRule: `FREQ=DAILY;UNTIL=${year}0601`, startDate: `${year}-06-01` });
    assert.deepEqual(await due(last), [null, null]);
  });

  it('of a completed task name no day on which the next one is made, until it is reopened', async () => {
    const id = await make({ ...weekly, completedAt: '2026-06-02T10:00:00.000Z' });
    assert.equal((await seriesOf(id))['nextdate'], null);
    await owner.change('Task', id, { repeatRule: 'FREQ=DAILY' });
    assert.equal((await seriesOf(id))['nextdate'], null);
    await owner.change('Task', id, { completedAt: null });
    assert.equal((await seriesOf(id))['nextdate'], '2026-06-02');
  });

  it('move on when the task is skipped, which is one entry and completes nothing [sync.repeat.skip]', async () => {
    const year = new Date().getUTCFullYear() + 1;
    const id = await make({
      repeatRule: 'FREQ=YEARLY;COUNT=3',
      startDate: `${year}-06-01`,
      deadlineAt: `${year}-06-03`,
    });
    const before = await engines.head();
    await owner.change('Task', id, { repeatSkip: true });
    const entries = await engines.entries(before);
    assert.deepEqual(
      entries.map(({ action, modelId, completes }) => [action, modelId, completes]),
      [['UPDATE', id, false]],
    );
    const skipped = await seriesOf(id);
    assert.deepEqual(
      [skipped['startdate'], skipped['deadlineat'], skipped['index'], skipped['anchor'], skipped['nextdate']],
      [`${year + 1}-06-01`, `${year + 1}-06-03`, 2, `${year}-06-01`, `${year + 2}-06-01`],
    );
    await owner.change('Task', id, { repeatSkip: true });
    assert.deepEqual((await seriesOf(id))['rule'], null, 'the last one by COUNT');
    const open = 'Only an open task that has a repeatRule can be skipped';
    assert.equal(await error(owner.try('UPDATE', 'Task', id, { repeatSkip: true })), open);
  });

  it('move on once for each day that is named, however many skip it at once [sync.repeat.skip]', async () => {
    const year = new Date().getUTCFullYear() + 1;
    const id = await make({ repeatRule: 'FREQ=YEARLY', startDate: `${year}-06-01` });
    const skips = ['', '', 'T00:00:00.000Z'].map((time) =>
      owner.try('UPDATE', 'Task', id, { repeatSkip: `${year}-06-01${time}` }),
    );
    for (const outcome of await Promise.all(skips))
      assert.equal(only(outcome).record['startDate'], `${year + 1}-06-01`);
    const wrong = `repeatSkip: the day of this task is ${year + 1}-06-01, and not ${year + 2}-06-01`;
    assert.equal(await error(owner.try('UPDATE', 'Task', id, { repeatSkip: `${year + 2}-06-01` })), wrong);
    const undated = await make({ repeatRule: 'FREQ=YEARLY', repeatFrom: 'completion' });
    assert.match(await error(owner.try('UPDATE', 'Task', undated, { repeatSkip: '2026-06-01' })), /is not set/);
  });

  it('are not skipped beyond the last day, nor with other changes', async () => {
    const year = new Date().getUTCFullYear();
    const repeatRule = `FREQ=YEARLY;UNTIL=${year + 1}0701`;
    const id = await make({ repeatRule, startDate: `${year + 1}-06-01` });
    const last = 'This is the last task of its series, so it cannot be skipped';
    assert.equal(await error(owner.try('UPDATE', 'Task', id, { repeatSkip: true })), last);
    const alone = 'repeatSkip must be true or the day to skip, without any other field';
    for (const other of [{ title: 'x' }, { sortOrder: { after: await make({}) } }, { repeatFrom: 'date' }])
      assert.equal(await error(owner.try('UPDATE', 'Task', id, { repeatSkip: true, ...other })), alone);
    for (const wrong of ['yes', '2026-02-30', false, 1, ''])
      assert.equal(await error(owner.try('UPDATE', 'Task', id, { repeatSkip: wrong })), alone);
    assert.match(await error(insert({ repeatSkip: true })), /^Task has no field "repeatSkip"/);
  });
});
