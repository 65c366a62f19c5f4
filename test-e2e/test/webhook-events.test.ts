import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ActionName } from '@wts/contracts';
import { eventually, type Person, type TestSystem } from '@wts/testkit';
import { Pool } from 'pg';
import { sharedSystem } from './shared-system.ts';

interface Event {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly apiVersion: string;
  readonly workspaceId: string;
  readonly syncActionId: string;
  readonly data: { readonly object: Readonly<Record<string, unknown>>; readonly changes: readonly string[] };
}

interface LoggedEntry {
  readonly syncId: string;
  readonly eventId: string;
  readonly record: object;
  readonly createdAt: Date;
}

/** What the services do, from a request to the events that an endpoint is given. */
describe('the events of a workspace', () => {
  let testSystem: TestSystem;
  let pool: Pool;
  let admin: Pool;
  let workspaceId: string;
  let endpointId: string;
  let owner: Person;
  let member: Person;

  before(async () => {
    testSystem = await sharedSystem();
    owner = await testSystem.person('Owner');
    workspaceId = (await testSystem.workspaceOf(owner)).id;
    pool = new Pool({ connectionString: testSystem.database.urlOf('wts_webhooks') });
    admin = new Pool({ connectionString: testSystem.database.url });
    member = await testSystem.member('Ann', 'member', workspaceId);
    endpointId = randomUUID();
    // A name that resolves to nothing: what is attempted is not what is tested here.
    await pool.query(
      `insert into webhooks.workspaces (workspace_id, owner_id, position) select $1, $2, max(sync_id) from sync.sync_actions`,
      [workspaceId, owner.userId],
    );
    await pool.query(
      `insert into webhooks.endpoints (id, workspace_id, url, description, event_types, since_position, created_by)
       select $1, $2, 'https://events.invalid', '', '{}', max(sync_id), $1 from sync.sync_actions`,
      [endpointId, workspaceId],
    );
    await pool.query('insert into webhooks.lanes (endpoint_id) values ($1)', [endpointId]);
  });
  after(() => Promise.all([pool.end(), admin.end()]));

  async function send(...given: Parameters<TestSystem['mutate']>): Promise<string> {
    const { success, text, modelId } = await testSystem.mutate(...given);
    assert.ok(success, text);
    return modelId;
  }
  const mutate = (action: ActionName, modelName: string, modelId: string, payload: object = {}): Promise<string> =>
    send(owner.token, { modelName, modelId, action, payload });
  const make = (modelName: string, payload: object, token = owner.token): Promise<string> =>
    send(token, { modelName, payload: { workspaceId, ...payload } });
  async function head(): Promise<string> {
    const { rows } = await admin.query<{ head: string }>('select max(sync_id) as head from sync.sync_actions');
    return rows[0]?.head ?? '0';
  }
  async function logged(syncId: string): Promise<LoggedEntry> {
    const { rows } = await admin.query<LoggedEntry>(
      `select sync_id as "syncId", event_id as "eventId", record, created_at as "createdAt" from sync.sync_actions where sync_id = $1`,
      [syncId],
    );
    return rows[0]!;
  }

  /** The events of all that happens in `work`, in the order of their deliveries; a project is made behind it, as a sign of the end. */
  async function eventsOf(work: () => Promise<unknown>): Promise<Event[]> {
    const from = await head();
    await work();
    const end = await make('Project', { name: 'End', key: `E${randomUUID().slice(0, 8)}` });
    return eventually(async () => {
      const { rows } = await pool.query<{ body: string }>(
        `select body from webhooks.deliveries join webhooks.events on events.id = event_id and events.created_at = event_at
         where endpoint_id = $1 and position > $2 order by sequence`,
        [endpointId, from],
      );
      const events = rows.map(({ body }) => JSON.parse(body) as Event);
      return events.at(-1)?.data.object['id'] === end ? events.slice(0, -1) : null;
    });
  }
  const summary = (events: readonly Event[]): [string, readonly string[]][] =>
    events.map(({ type, data }) => [type, data.changes]);
  const typesOf = (events: readonly Event[]): string[] => events.map(({ type }) => type);
  const key = (): string => `K${randomUUID().slice(0, 8)}`;

  it('are those of tasks [events.task.created, events.task.updated, events.task.completed, events.task.archived, events.task.deleted, events.body.changes]', async () => {
    let id = '';
    const events = await eventsOf(async () => {
      id = await make('Task', { title: 'T' });
      await mutate('UPDATE', 'Task', id, { title: 'U', priority: 2 });
      await mutate('UPDATE', 'Task', id, { completedAt: '2026-11-20T10:00:00.000Z' });
      await mutate('UPDATE', 'Task', id, { completedAt: '2026-11-20T11:00:00.000Z' });
      await mutate('UPDATE', 'Task', id, { completedAt: null });
      await mutate('UPDATE', 'Task', id, { completedAt: '2026-11-20T12:00:00.000Z', title: 'V' });
      await mutate('UPDATE', 'Task', id, { title: 'V' });
      await mutate('ARCHIVE', 'Task', id);
      await mutate('UNARCHIVE', 'Task', id);
      await mutate('DELETE', 'Task', id);
    });
    assert.deepEqual(summary(events), [
      ['task.created', []],
      ['task.updated', ['title', 'priority']],
      ['task.completed', ['completedAt']],
      ['task.updated', ['completedAt']],
      ['task.updated', ['completedAt']],
      ['task.completed', ['title', 'completedAt']],
      ['task.archived', ['archivedAt']],
      ['task.updated', ['archivedAt']],
      ['task.deleted', []],
    ]);
    const { object } = events.at(-1)!.data;
    assert.deepEqual([object['id'], object['title'], object['priority'], object['archivedAt']], [id, 'V', 2, null]);
  });

  it('are those of projects [events.project.created, events.project.updated, events.project.completed, events.project.archived, events.project.deleted]', async () => {
    const events = await eventsOf(async () => {
      const id = await make('Project', { name: 'P', key: key() });
      await mutate('UPDATE', 'Project', id, { name: 'Q' });
      await mutate('UPDATE', 'Project', id, { status: 'done' });
      await mutate('UPDATE', 'Project', id, { completedAt: '2026-11-20T11:00:00.000Z' });
      await mutate('UPDATE', 'Project', id, { status: 'active' });
      await mutate('ARCHIVE', 'Project', id);
      await mutate('UNARCHIVE', 'Project', id);
      await mutate('DELETE', 'Project', id);
    });
    assert.deepEqual(typesOf(events), [
      'project.created',
      'project.updated',
      'project.completed',
      'project.updated',
      'project.updated',
      'project.archived',
      'project.updated',
      'project.deleted',
    ]);
    assert.deepEqual(events[2]?.data.changes.toSorted(), ['completedAt', 'status']);
    assert.equal(events.at(-1)?.data.object['name'], 'Q');
  });

  it('are those of comments [events.comment.created, events.comment.updated, events.comment.deleted]', async () => {
    const events = await eventsOf(async () => {
      const taskId = await make('Task', { title: 'T' });
      const id = await make('Comment', { taskId, body: 'Yes' });
      await mutate('UPDATE', 'Comment', id, { body: 'No' });
      await mutate('DELETE', 'Comment', id);
    });
    assert.deepEqual(typesOf(events), ['task.created', 'comment.created', 'comment.updated', 'comment.deleted']);
    assert.deepEqual(events[2]?.data.changes, ['body', 'editedAt']);
    assert.deepEqual(
      events.slice(1).map(({ data }) => data.object['body']),
      ['Yes', 'No', 'No'],
    );
  });

  it('are none of other models', async () => {
    const events = await eventsOf(async () => {
      await make('Team', { name: 'T', key: key().slice(0, 5).toUpperCase() });
      await make('Label', { name: key(), color: '#ff0000' });
      await testSystem.member('Bob', 'member', workspaceId);
    });
    assert.deepEqual(events, []);
  });

  it('are one for each record that a change takes along, in the order of the log, with the records as they were', async () => {
    const events = await eventsOf(async () => {
      const projectId = await make('Project', { name: 'P', key: key() });
      const taskId = await make('Task', { title: 'T', projectId });
      await make('Comment', { taskId, body: 'Yes' });
      await mutate('DELETE', 'Project', projectId);
    });
    assert.deepEqual(typesOf(events).slice(0, 3), ['project.created', 'task.created', 'comment.created']);
    assert.deepEqual(typesOf(events).slice(3).toSorted(), ['comment.deleted', 'project.deleted', 'task.deleted']);
    const deleted = events.slice(3);
    assert.deepEqual(
      new Set(deleted.map(({ data }) => data.object['title'] ?? data.object['body'] ?? data.object['name'])),
      new Set(['T', 'Yes', 'P']),
    );
  });

  it('are the same whichever client made the change [events.source.every-client]', async () => {
    const events = await eventsOf(async () => {
      await make('Task', { title: 'of a key' });
      await make('Task', { title: 'of a session' }, member.token);
      await testSystem.put('Task', { workspaceId, title: 'of a service' });
    });
    assert.deepEqual(
      events.map(({ type, data }) => [type, data.object['title']]),
      ['of a key', 'of a session', 'of a service'].map((title) => ['task.created', title]),
    );
  });

  it('have the fields of an event, in their order, from the entry of the log [events.body.fields, events.body.sync-action-id, events.body.object, events.body.dates]', async () => {
    const [event] = await eventsOf(() =>
      make('Task', {
        title: 'Ünï "quoted"\n🎉',
        startDate: '2026-12-01',
        deadlineAt: '2026-12-24',
        description: '\u2028',
      }),
    );
    assert.ok(event !== undefined);
    const entry = await logged(event.syncActionId);
    assert.deepEqual(event, {
      id: entry.eventId,
      type: 'task.created',
      createdAt: entry.createdAt.toISOString(),
      apiVersion: '1',
      workspaceId,
      syncActionId: entry.syncId,
      data: { object: entry.record, changes: [] },
    });
    assert.deepEqual(Object.keys(event), [
      'id',
      'type',
      'createdAt',
      'apiVersion',
      'workspaceId',
      'syncActionId',
      'data',
    ]);
    const { object } = event.data;
    assert.deepEqual([object['startDate'], object['deadlineAt']], ['2026-12-01', '2026-12-24']);
    assert.match(String(object['createdAt']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  describe('and a private project', () => {
    it('are a deletion of a task that moves into it, as the workspace last saw it, and a creation of one that moves out [events.filter.private-projects]', async () => {
      let projectId = '';
      const events = await eventsOf(async () => {
        projectId = await make('Project', { name: 'Secret', key: key(), isPrivate: true });
        const taskId = await make('Task', { title: 'Seen' });
        await make('Comment', { taskId, body: 'Seen' });
        await mutate('UPDATE', 'Task', taskId, { projectId, title: 'Secret' });
        await mutate('UPDATE', 'Task', taskId, { description: 'Secret' });
        await mutate('UPDATE', 'Task', taskId, { projectId: null, title: 'Seen again', description: null });
      });
      assert.deepEqual(
        events.map(({ type, data }) => [type, data.object['title'] ?? data.object['body'], data.changes]),
        [
          ['task.created', 'Seen', []],
          ['comment.created', 'Seen', []],
          ['comment.deleted', 'Seen', []],
          ['task.deleted', 'Seen', []],
          ['task.created', 'Seen again', []],
          ['comment.created', 'Seen', []],
        ],
      );
      const text = JSON.stringify(events);
      assert.ok(!text.includes('Secret') && !text.includes(projectId));
    });

    it('are a deletion of the project and of all in it when it turns private, and their creation when it no longer is', async () => {
      let projectId = '';
      const gone = await eventsOf(async () => {
        projectId = await make('Project', { name: 'Seen', key: key() });
        const taskId = await make('Task', { title: 'Seen', projectId });
        await make('Comment', { taskId, body: 'Seen' });
        await mutate('UPDATE', 'Project', projectId, { isPrivate: true, name: 'Secret' });
      });
      assert.deepEqual(typesOf(gone).slice(3), ['comment.deleted', 'task.deleted', 'project.deleted']);
      assert.ok(!JSON.stringify(gone).includes('Secret'));
      assert.equal(gone.at(-1)?.data.object['isPrivate'], false);
      const back = await eventsOf(() => mutate('UPDATE', 'Project', projectId, { isPrivate: false }));
      assert.deepEqual(typesOf(back), ['project.created', 'task.created', 'comment.created']);
    });
  });
});
