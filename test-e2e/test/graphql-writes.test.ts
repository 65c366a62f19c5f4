import type { Person, TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ask, send } from '../graphql/call.ts';
import { Writer, type Changed } from '../graphql/writer.ts';
import { sharedSystem } from './shared-system.ts';

describe('changes by GraphQL', () => {
  let testSystem: TestSystem;
  let ann: Person;
  let workspaceId: string;
  let writer: Writer;

  before(async () => {
    testSystem = await sharedSystem();
    ({ workspaceId } = testSystem);
    ann = await testSystem.member('Ann');
    writer = new Writer(testSystem, ann.token, workspaceId);
  });

  const change: Writer['change'] = (...given) => writer.change(...given);
  const create: Writer['create'] = (...given) => writer.create(...given);
  const update: Writer['update'] = (...given) => writer.update(...given);
  const step: Writer['step'] = (...given) => writer.step(...given);

  it('creates, changes, completes, reopens, archives, restores and deletes a task, each at a position of the log [graphql.writes.one-log]', async () => {
    const select = 'id title completedAt archivedAt number creatorId';
    const made = await create({ title: 'Write' }, {}, { select });
    assert.deepEqual([made.success, made.error, made.record['title']], [true, null, 'Write']);
    assert.equal(made.record['creatorId'], ann.userId);
    const { id } = made.record;
    const changed = await update(id, { title: 'Rewrite' }, { select });
    assert.equal(changed.record['title'], 'Rewrite');
    assert.equal(typeof (await step('taskComplete', id, { select })).record['completedAt'], 'string');
    assert.equal((await step('taskReopen', id, { select })).record['completedAt'], null);
    assert.equal(typeof (await step('taskArchive', id, { select })).record['archivedAt'], 'string');
    assert.equal((await step('taskUnarchive', id, { select })).record['archivedAt'], null);
    const deleted = await step('taskDelete', id, { select });
    assert.equal(deleted.record['title'], 'Rewrite');
    const { text } = await testSystem.request(ann.token, 'GET', `/sync/deltas?after=${BigInt(made.syncId ?? '') - 1n}`);
    const { actions } = JSON.parse(text) as {
      actions: { modelId: string; action: string; syncId: string; clientId: string }[];
    };
    const own = actions.filter(({ modelId }) => modelId === id);
    assert.deepEqual(
      own.map(({ action }) => action),
      ['INSERT', 'UPDATE', 'UPDATE', 'UPDATE', 'ARCHIVE', 'UNARCHIVE', 'DELETE'],
    );
    assert.deepEqual([own[0]?.syncId, own[1]?.syncId, own[6]?.syncId], [made.syncId, changed.syncId, deleted.syncId]);
    assert.ok(own.every(({ clientId }) => clientId === 'graphql'));
  });

  it('creates a record once under its id or its clientTxId, however often it is sent [graphql.writes.idempotent]', async () => {
    const id = randomUUID();
    const first = await create({ id, title: 'Once' }, {}, { select: 'id number' });
    const again = await create({ id, title: 'Once' }, {}, { select: 'id number' });
    assert.deepEqual(again, first);
    const named = { clientTxId: ['String', randomUUID()] } as const;
    const [one, two] = await Promise.all([
      create({}, named, { select: 'id number' }),
      create({}, named, { select: 'id number' }),
    ]);
    assert.deepEqual(one, two);
    assert.deepEqual(await create({ title: 'Another text' }, named, { select: 'id number' }), one);
    const other = await create({}, { ...named, clientId: ['String', 'other device'] });
    assert.notEqual(other.record.id, one.record.id);
    const bob = await testSystem.member('Bob');
    const ofBob = await create({}, named, { token: bob.token });
    assert.notEqual(ofBob.record.id, one.record.id);
  });

  it('answers a refused change with its reason, as data', async () => {
    const { record } = await create({});
    const wrong: [Promise<Changed>, string, RegExp][] = [
      [update(record.id, { title: '' }), 'BAD_USER_INPUT', /^title must have/],
      [update(record.id, { priority: 9 }), 'BAD_USER_INPUT', /^priority /],
      [update(randomUUID(), { title: 'T' }), 'NOT_FOUND', /Task not found/],
      [update('no id', { title: 'T' }), 'BAD_USER_INPUT', /id must be a UUID/],
      [create({ id: record.id }, { clientId: ['String', 'other'] }), 'CONFLICT', /already exists/],
      [create({ projectId: randomUUID() }), 'NOT_FOUND', /Project not found/],
      [create({}, { clientTxId: ['String', ''] }), 'BAD_USER_INPUT', /clientTxId/],
    ];
    for (const [refused, code, message] of wrong) {
      const { success, syncId, lastSyncId, error, record: none } = await refused;
      assert.deepEqual(
        [success, syncId, lastSyncId, none, error?.code],
        [false, null, '0', null, code],
        error?.message ?? '',
      );
      assert.match(error?.message ?? '', message);
    }
  });

  describe('in a batch', () => {
    interface Batch {
      readonly success: boolean;
      readonly lastSyncId: string;
      readonly error: { code: string; message: string } | null;
      readonly results: {
        success: boolean;
        syncId: string | null;
        error: { code: string } | null;
        task: { id: string; title: string } | null;
      }[];
      readonly tasks: { id: string }[];
    }
    const RESULTS =
      'success lastSyncId error { code message } results { success syncId error { code } task { id title completedAt priority } } tasks { id }';
    const createAll = async (inputs: object[], clientTxId: string | null = null): Promise<Batch> => {
      const query = `mutation ($inputs: [TaskCreateInput!]!, $clientTxId: String) { taskBatchCreate(inputs: $inputs, clientTxId: $clientTxId) { ${RESULTS} } }`;
      return (await ask<{ taskBatchCreate: Batch }>(testSystem, ann.token, query, { inputs, clientTxId }))
        .taskBatchCreate;
    };
    const titled = (count: number): object[] =>
      Array.from({ length: count }, (_, index) => ({ workspaceId, title: `Task ${index}` }));

    it('applies fifty changes in their order by one request to sync', async () => {
      const made = await createAll(titled(50));
      assert.equal(made.success, true);
      assert.deepEqual(
        made.results.map(({ task }) => task?.title),
        titled(50).map((_, index) => `Task ${index}`),
      );
      const positions = made.results.map(({ syncId }) => Number(syncId));
      assert.deepEqual(
        positions,
        positions.toSorted((a, b) => a - b),
      );
      assert.equal(Number(made.lastSyncId), positions.at(-1));
      const ids = made.tasks.map(({ id }) => id);
      const query = `mutation ($ids: [ID!]!) { taskBatchComplete(ids: $ids) { ${RESULTS} } }`;
      const { taskBatchComplete } = await ask<{ taskBatchComplete: Batch }>(testSystem, ann.token, query, { ids });
      assert.ok(taskBatchComplete.success && taskBatchComplete.results.length === 50);
    });

    it('gives each change its own result, and applies the others', async () => {
      const made = await createAll([
        ...titled(2),
        { workspaceId, title: '' },
        { workspaceId: randomUUID(), title: 'T' },
      ]);
      assert.equal(made.success, false);
      assert.deepEqual(
        made.results.map(({ success, error }) => error?.code ?? success),
        [true, true, 'BAD_USER_INPUT', 'NOT_FOUND'],
      );
      assert.equal(made.tasks.length, 2);
      const ids = [made.tasks[0]?.id, 'no id', randomUUID(), made.tasks[1]?.id];
      const query = `mutation ($ids: [ID!]!) { taskBatchUpdate(ids: $ids, input: {priority: 1}) { ${RESULTS} } }`;
      const { taskBatchUpdate } = await ask<{ taskBatchUpdate: Batch }>(testSystem, ann.token, query, { ids });
      assert.deepEqual(
        taskBatchUpdate.results.map(({ success, error }) => error?.code ?? success),
        [true, 'BAD_USER_INPUT', 'NOT_FOUND', true],
      );
    });

    it('goes to its place in its order, also behind a change that is refused [graphql.writes.place]', async () => {
      const { id: after } = (await create({ title: 'Anchor' })).record;
      const place = { after };
      const titles = ['', 'a', '', 'b', 'c'];
      const made = await createAll(titles.map((title) => ({ workspaceId, title, place })));
      assert.deepEqual(
        made.results.map(({ success }) => success),
        titles.map((title) => title !== ''),
      );
      const [a, b, c] = made.tasks.map(({ id }) => id) as [string, string, string];
      const order = async (): Promise<string[]> => {
        const query = `query ($ids: [ID!]!) { tasks(filter: {id: {in: $ids}}) { nodes { id sortOrder } } }`;
        const { tasks } = await ask<{ tasks: { nodes: { id: string; sortOrder: string }[] } }>(
          testSystem,
          ann.token,
          query,
          { ids: [a, b, c, after] },
        );
        const sorted = tasks.nodes.toSorted((one, other) => (one.sortOrder < other.sortOrder ? -1 : 1));
        return sorted.map(({ id }) => id);
      };
      assert.deepEqual(await order(), [after, a, b, c]);
      const ids = [c, randomUUID(), b, a];
      const query = `mutation ($ids: [ID!]!, $place: PlaceInput!) { taskBatchUpdate(ids: $ids, input: {place: $place}) { ${RESULTS} } }`;
      const { taskBatchUpdate } = await ask<{ taskBatchUpdate: Batch }>(testSystem, ann.token, query, { ids, place });
      assert.deepEqual(
        taskBatchUpdate.results.map(({ success, task }) => (success ? task?.id : null)),
        [c, null, b, a],
      );
      assert.deepEqual(await order(), [after, c, b, a]);
    });

    it('is applied once under its clientTxId', async () => {
      const clientTxId = randomUUID();
      const first = await createAll(titled(3), clientTxId);
      assert.deepEqual(await createAll(titled(3), clientTxId), first);
    });

    it('is refused as a whole above fifty, and empty', async () => {
      for (const count of [0, 51]) {
        const { success, error, results } = await createAll(titled(count));
        assert.deepEqual([success, error?.code, results], [false, 'BAD_USER_INPUT', []]);
      }
    });
  });

  describe('of a place', () => {
    let taskId: string;
    beforeEach(async () => (taskId = (await create({ title: 'With a checklist' })).record.id));
    const item = async (title: string, more: object = {}): Promise<string> => {
      const input = { workspaceId, taskId, title, ...more };
      const made = await change(
        'taskChecklistItemCreate',
        { input: ['TaskChecklistItemCreateInput!', input] },
        { record: 'taskChecklistItem' },
      );
      assert.equal(made.success, true, made.error?.message ?? '');
      return made.record.id;
    };
    const move = (id: string, place: object, clientTxId: string = randomUUID()): Promise<Changed> =>
      change(
        'taskChecklistItemUpdate',
        {
          id: ['ID!', id],
          input: ['TaskChecklistItemUpdateInput!', { place }],
          clientTxId: ['String', clientTxId],
        },
        { record: 'taskChecklistItem' },
      );
    interface Item {
      readonly id: string;
      readonly title: string;
      readonly sortOrder: string;
    }
    async function items(): Promise<Item[]> {
      const requests = [{ modelName: 'TaskChecklistItem', indexedKey: 'taskId', keyValue: taskId }];
      const { text } = await testSystem.request(ann.token, 'POST', '/sync/batch', { body: { requests } });
      return text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Item);
    }
    /** The titles as every client shows them. */
    async function order(): Promise<string> {
      const keyOf = ({ sortOrder, id }: Item): string => `${sortOrder}\u0000${id}`;
      return (await items())
        .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
        .map(({ title }) => title)
        .join('');
    }

    it('is before, after or between other records, also of records without a rank [graphql.writes.place]', async () => {
      const [a, b, c] = ['0', '1', '2'].map((digit) => `${digit}${randomUUID().slice(1)}`) as [string, string, string];
      for (const [id, title] of [
        [a, 'a'],
        [b, 'b'],
        [c, 'c'],
      ] as const)
        await item(title, { id });
      assert.equal(await order(), 'abc');
      await move(c, { before: b });
      assert.equal(await order(), 'acb');
      await move(a, { after: c });
      assert.equal(await order(), 'cab');
      await item('d', { place: { after: c, before: a } });
      assert.equal(await order(), 'cdab');
      await item('e', { place: { before: c } });
      await item('f', { place: { after: b } });
      assert.equal(await order(), 'ecdabf');
    });

    it('is computed once for a change that is sent again, whatever happened since [graphql.writes.idempotent]', async () => {
      const idOf = (digit: number): string => `${digit}${randomUUID().slice(1)}`;
      const [a, c, d] = [idOf(0), idOf(2), idOf(3)];
      for (const [title, id] of Object.entries({ a, b: idOf(1), c })) await item(title, { id });
      const clientTxId = randomUUID();
      const first = await move(c, { after: a }, clientTxId);
      const placed = { id: randomUUID(), place: { after: a } };
      await item('e', placed);
      assert.equal(await order(), 'aecb');
      // Of the same rank as the first, so that a record after that one gives it another.
      await item('d', { id: d });
      assert.equal(await order(), 'adecb');
      const before = await items();
      assert.deepEqual(await move(c, { after: a }, clientTxId), first);
      await item('e', placed);
      assert.deepEqual(await items(), before);
      await step('taskChecklistItemDelete', a, { record: 'taskChecklistItem' });
      assert.deepEqual(await move(c, { after: a }, clientTxId), first);
      assert.equal(await order(), 'decb');
    });

    it('is refused beside a record that is not there, is elsewhere or is the record itself', async () => {
      const a = await item('a');
      const b = await item('b', { place: { after: a } });
      for (const [place, code] of [
        [{}, 'BAD_USER_INPUT'],
        [{ before: a }, 'BAD_USER_INPUT'],
        [{ after: b, before: b }, 'BAD_USER_INPUT'],
        [{ after: randomUUID() }, 'NOT_FOUND'],
        [{ after: 'x' }, 'BAD_USER_INPUT'],
      ] as const) {
        const { success, error } = await move(a, place);
        assert.deepEqual([success, error?.code], [false, code], JSON.stringify(place));
      }
    });
  });

  describe('by scope and role', () => {
    it('need the scope write, and admin where REST needs it [graphql.writes.scope]', async () => {
      const { id } = (await create({})).record;
      const readOnly = await testSystem.keyOf(ann, { permissions: 'read-only' });
      for (const mutation of [
        `taskUpdate(id: "${id}", input: {title: "T"}) { success }`,
        `taskDelete(id: "${randomUUID()}") { success }`,
        `taskBatchArchive(ids: ["${id}"]) { success }`,
        `apiKeyCreate(label: "x") { success }`,
        `workspaceJoin(code: "x") { success }`,
        `memberRemove(workspaceId: "${workspaceId}", userId: "${ann.userId}") { success }`,
      ]) {
        const { errors } = await send(testSystem, readOnly.token, `mutation { ${mutation} }`);
        assert.equal(errors?.[0]?.extensions.code, 'FORBIDDEN', mutation);
      }
      const { errors } = await send(testSystem, readOnly.token, '{ apiKeys { id } }');
      assert.equal(errors?.[0]?.extensions.code, 'FORBIDDEN');
    });

    it('are decided by sync for each role, as everywhere', async () => {
      const guest = await testSystem.member('Guest', 'guest');
      const { record } = await create({ title: 'Not of the guest' });
      const options = { token: guest.token };
      const refused = await update(record.id, { title: 'Taken' }, options);
      assert.deepEqual([refused.success, refused.error?.code], [false, 'FORBIDDEN']);
      assert.equal((await create({ title: 'Own' }, {}, options)).success, true);
      const label = { input: ['LabelCreateInput!', { workspaceId, name: 'L' }] } as const;
      const none = await change('labelCreate', label, { record: 'label', token: guest.token });
      assert.equal(none.error?.code, 'FORBIDDEN');
      const outsider = await testSystem.person('Outsider');
      assert.equal((await update(record.id, { title: 'T' }, { token: outsider.token })).error?.code, 'NOT_FOUND');
    });
  });

  it('are unavailable with a time to retry while sync is gone, and reads are served [graphql.writes.unavailable]', async () => {
    const { id } = (await create({ title: 'Before' })).record;
    await testSystem.service('sync').kill('SIGKILL');
    try {
      const { data, errors } = await send(
        testSystem,
        ann.token,
        `mutation { taskUpdate(id: "${id}", input: {title: "T"}) { success } }`,
      );
      assert.deepEqual([data, errors?.[0]?.extensions.code], [null, 'UNAVAILABLE']);
      assert.ok((errors?.[0]?.extensions.retryAfterSeconds ?? 0) >= 1);
      const { viewer } = await ask<{ viewer: { id: string } }>(testSystem, ann.token, '{ viewer { id } }');
      assert.equal(viewer.id, ann.userId);
    } finally {
      await testSystem.service('sync').start();
      await testSystem.untilReady();
    }
    assert.equal((await update(id, { title: 'After' })).success, true);
  });
});
