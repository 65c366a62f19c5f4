import type { Person, TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ask, send } from '../graphql/call.ts';
import { Writer } from '../graphql/writer.ts';
import { sharedSystem } from './shared-system.ts';

interface Next {
  readonly id: string;
  readonly startDate: string;
  readonly repeatText: string | null;
}

describe('repeating tasks by GraphQL', () => {
  let testSystem: TestSystem;
  let ann: Person;
  let writer: Writer;

  before(async () => {
    testSystem = await sharedSystem();
    ann = await testSystem.member('Ann repeats');
    writer = new Writer(testSystem, ann.token, testSystem.workspaceId);
  });

  const SELECT = 'id startDate repeatText repeatNextDate repeatTemplateId';
  const seriesOf = async (id: unknown): Promise<readonly Next[]> => {
    const query = `query ($id: ID!) { tasks(filter: {repeatTemplateId: {eq: $id}}, orderBy: {createdAt: ASC}) { nodes { ${SELECT} } } }`;
    return (await ask<{ tasks: { nodes: Next[] } }>(testSystem, ann.token, query, { id })).tasks.nodes;
  };
  const mutate = async <Payload>(field: string, id: string, select: string): Promise<Payload> => {
    const query = `mutation ($id: ID!) { payload: ${field}(id: $id) { ${select} } }`;
    return (await ask<{ payload: Payload }>(testSystem, ann.token, query, { id })).payload;
  };

  it('skips a day, names the task that follows a completed one, finds the series, and says when it ends [graphql.repeat.series]', async () => {
    const input = { title: 'Weekly', startDate: '2030-01-07', repeatRule: 'FREQ=WEEKLY;BYDAY=MO' };
    const { record } = await writer.create(input, {}, { select: SELECT });
    const { id } = record;
    assert.deepEqual(
      [record['repeatText'], record['repeatNextDate'], record['repeatTemplateId']],
      ['every Monday', '2030-01-14', id],
    );
    const skip = `mutation ($id: ID!) { skip: taskSkip(id: $id, day: "2030-01-07") { task { startDate } error { message } } }`;
    const skips = await Promise.all([1, 2].map(() => ask(testSystem, ann.token, skip, { id })));
    for (const skipped of skips)
      assert.deepEqual(skipped, { skip: { task: { startDate: '2030-01-14' }, error: null } });

    const { next } = await mutate<{ next: Next }>('taskComplete', id, `next { ${SELECT} }`);
    assert.deepEqual([next.startDate, next.repeatText], ['2030-01-21', 'every Monday']);
    const series = await seriesOf(id);
    assert.deepEqual(
      series.map((task) => [task.id, task.startDate, task.repeatText]),
      [
        [id, '2030-01-14', null],
        [next.id, '2030-01-21', 'every Monday'],
      ],
    );
    assert.deepEqual(await mutate('taskDelete', id, 'seriesEnded'), { seriesEnded: false });
    assert.deepEqual(await mutate('taskDelete', next.id, 'seriesEnded next { id }'), { seriesEnded: true, next: null });
  });

  it('names the next task also where both were created in the same millisecond', async () => {
    const [modelId, clientId] = [randomUUID(), 'test'];
    const { workspaceId, baseUrl } = testSystem;
    const rule = { workspaceId, title: 'Soon', repeatRule: 'FREQ=DAILY', repeatFrom: 'completion' };
    const transactions = [
      { action: 'INSERT', payload: rule },
      { action: 'UPDATE', payload: { completedAt: new Date().toISOString() } },
    ].map((one) => ({ ...one, modelName: 'Task', modelId, clientId, clientTxId: randomUUID() }));
    const headers = { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ batchId: randomUUID(), transactions });
    await fetch(`${baseUrl}/sync/mutate`, { method: 'POST', headers, body });
    const { next } = await mutate<{ next: Next | null }>('taskArchive', modelId, 'next { id }');
    assert.ok(next !== null && next.id !== modelId);
  });

  it('ends a series with its rule, and skips no task that does not repeat', async () => {
    const input = { startDate: '2030-01-07', repeatRule: 'FREQ=DAILY' };
    const { record } = await writer.create(input, {}, { select: SELECT });
    const ended = await writer.update(record.id, { repeatRule: null }, { select: SELECT });
    assert.deepEqual([ended.record['repeatText'], ended.record['repeatNextDate']], [null, null]);
    const { next } = await mutate<{ next: Next | null }>('taskComplete', record.id, 'next { id }');
    assert.equal(next, null);
    const skipped = await writer.step('taskSkip', record.id);
    assert.deepEqual([skipped.success, skipped.error?.code], [false, 'BAD_USER_INPUT']);
  });

  it('previews a rule in the time zone of a workspace, and refuses what a change refuses with its sentence [graphql.repeat.preview]', async () => {
    const preview = (given: string) => send(testSystem, ann.token, `{ repeatPreview(${given}) { text days } }`);
    const monthly = await preview(
      `rule: "FREQ=MONTHLY;COUNT=3", anchor: "2030-01-31", workspaceId: "${testSystem.workspaceId}"`,
    );
    assert.deepEqual(monthly.data?.['repeatPreview'], {
      text: 'every month on the 31st or last day of the month, 3 times',
      days: ['2030-01-31', '2030-02-28', '2030-03-31'],
    });
    const later = await preview('rule: "FREQ=DAILY;INTERVAL=3", from: completion, anchor: "2030-01-01", first: 2');
    assert.deepEqual(later.data?.['repeatPreview'], {
      text: 'every 3 days, after completion',
      days: ['2030-01-01', '2030-01-04'],
    });
    for (const repeatRule of ['FREQ=HOURLY', 'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30', 'FREQ=DAILY;UNTIL=20200101']) {
      const { error } = await writer.create({ startDate: '2030-01-01', repeatRule });
      const { errors } = await preview(`rule: "${repeatRule}", anchor: "2030-01-01"`);
      assert.deepEqual([error?.code, errors?.[0]?.message], ['BAD_USER_INPUT', error?.message], repeatRule);
    }
    for (const [given, reason] of [
      ['first: 51', /first must be 1 to 50/],
      ['first: 0', /first must be 1 to 50/],
      ['timeZone: "Mars"', /timeZone must be a time zone/],
      [`timeZone: "UTC", workspaceId: "${testSystem.workspaceId}"`, /not both/],
      [`workspaceId: "${ann.userId}"`, /Workspace not found/],
    ] as const)
      assert.match((await preview(`rule: "FREQ=DAILY", ${given}`)).errors?.[0]?.message ?? '', reason);
  });
});
