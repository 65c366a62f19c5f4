/* oxlint-disable -- nothing here can be typed: its packages are installed only on request. */
// Strata's server as its documentation sets it up (README.md in this folder). A copy of this file runs in .installed, where
// its packages are.
/** @param {string} name */
const load = (name) => import(name);
const [{ createSyncServer }, drizzle, pg, orm, { default: fastify }, { default: websocket }, { default: driver }] =
  await Promise.all(
    [
      '@stratasync/server',
      'drizzle-orm/node-postgres',
      'drizzle-orm/pg-core',
      'drizzle-orm',
      'fastify',
      '@fastify/websocket',
      'pg',
    ].map(load),
  );

const { DATABASE_URL: connectionString, USER_ID: userId, WORKSPACE_ID: workspaceId } = process.env;
/** As many connections as our sync service has. */
const pool = new driver.Pool({ connectionString, max: 16 });
// Without a handler, the end of the PostgreSQL server would end this process with a stack trace.
pool.on('error', () => {});
await pool.query(`
  create schema if not exists strata;
  create table if not exists strata.tasks (
    id uuid primary key, workspace_id uuid not null, number int, title text not null, description text, project_id uuid,
    team_id uuid, assignee_id uuid, creator_id uuid, start text not null, start_bucket text not null, start_date date,
    today_index_reference_date date, deadline_at date, priority int not null, label_ids uuid[] not null,
    sort_order text not null, repeat_rule text, repeat_template_id uuid, completed_at timestamptz, archived_at timestamptz,
    created_at timestamptz not null, updated_at timestamptz not null);
  create index if not exists tasks_workspace_idx on strata.tasks (workspace_id, id);
  create table if not exists strata.sync_actions (
    id bigserial primary key, model varchar(100) not null, model_id uuid not null, action char(1) not null,
    data jsonb not null, group_id uuid, client_id varchar(100), client_tx_id uuid,
    created_at timestamptz not null default now(),
    constraint sync_actions_client_id_client_tx_id_unique unique (client_id, client_tx_id));
  create index if not exists sync_actions_group_idx on strata.sync_actions (group_id, id);
  create table if not exists strata.sync_group_memberships (
    id uuid primary key default gen_random_uuid(), user_id uuid not null, group_id uuid not null,
    group_type varchar(50) not null, created_at timestamptz default now(), unique (user_id, group_id))`);

const schema = pg.pgSchema('strata');
/** @param {string} name */
const moment = (name) => pg.timestamp(name, { withTimezone: true });
const tasks = schema.table('tasks', {
  id: pg.uuid('id').primaryKey(),
  workspaceId: pg.uuid('workspace_id').notNull(),
  number: pg.integer('number'),
  title: pg.text('title').notNull(),
  description: pg.text('description'),
  projectId: pg.uuid('project_id'),
  teamId: pg.uuid('team_id'),
  assigneeId: pg.uuid('assignee_id'),
  creatorId: pg.uuid('creator_id'),
  start: pg.text('start').notNull(),
  startBucket: pg.text('start_bucket').notNull(),
  startDate: pg.date('start_date', { mode: 'date' }),
  todayIndexReferenceDate: pg.date('today_index_reference_date', { mode: 'date' }),
  deadlineAt: pg.date('deadline_at', { mode: 'date' }),
  priority: pg.integer('priority').notNull(),
  labelIds: pg.uuid('label_ids').array().notNull(),
  sortOrder: pg.text('sort_order').notNull(),
  repeatRule: pg.text('repeat_rule'),
  repeatTemplateId: pg.uuid('repeat_template_id'),
  completedAt: moment('completed_at'),
  archivedAt: moment('archived_at'),
  createdAt: moment('created_at').notNull(),
  updatedAt: moment('updated_at').notNull(),
});
const syncActions = schema.table('sync_actions', {
  id: pg.bigserial('id', { mode: 'bigint' }).primaryKey(),
  model: pg.varchar('model', { length: 100 }).notNull(),
  modelId: pg.uuid('model_id').notNull(),
  action: pg.char('action', { length: 1 }).notNull(),
  data: pg.jsonb('data').notNull(),
  groupId: pg.uuid('group_id'),
  clientId: pg.varchar('client_id', { length: 100 }),
  clientTxId: pg.uuid('client_tx_id'),
  createdAt: moment('created_at').notNull().defaultNow(),
});
const syncGroupMemberships = schema.table('sync_group_memberships', {
  id: pg.uuid('id').primaryKey().defaultRandom(),
  userId: pg.uuid('user_id').notNull(),
  groupId: pg.uuid('group_id').notNull(),
  groupType: pg.varchar('group_type', { length: 50 }).notNull(),
  createdAt: moment('created_at').defaultNow(),
});

const insertFields = {
  workspaceId: { type: 'string' },
  title: { type: 'string' },
  description: { type: 'stringNull' },
  projectId: { type: 'stringNull' },
  teamId: { type: 'stringNull' },
  assigneeId: { type: 'stringNull' },
  creatorId: { type: 'stringNull', defaultValue: null },
  start: { type: 'string', defaultValue: 'not_started' },
  startBucket: { type: 'string', defaultValue: 'today' },
  startDate: { type: 'dateOnly' },
  todayIndexReferenceDate: { type: 'dateOnly' },
  deadlineAt: { type: 'dateOnly' },
  priority: { type: 'number', defaultValue: 0 },
  labelIds: { type: 'string', defaultValue: [] },
  sortOrder: { type: 'string', defaultValue: '' },
  repeatRule: { type: 'stringNull' },
  repeatTemplateId: { type: 'stringNull' },
  completedAt: { type: 'date' },
  archivedAt: { type: 'date' },
  createdAt: { type: 'dateNow' },
  updatedAt: { type: 'dateNow' },
};
/** Fields that a client may not change after the insert. */
const FIXED = new Set(['workspaceId', 'creatorId', 'createdAt', 'archivedAt']);

const sync = await createSyncServer({
  db: drizzle.drizzle({ client: pool }),
  tables: { syncActions, syncGroupMemberships },
  auth: {
    /** @param {string} token */
    verifyToken: async (token) => (token === 'bench' ? { userId } : null),
    resolveGroups: async () => [workspaceId],
  },
  models: {
    Task: {
      table: tasks,
      groupKey: 'workspaceId',
      bootstrap: {
        fields: Object.keys(orm.getTableColumns(tasks)),
        instantFields: ['completedAt', 'archivedAt', 'createdAt', 'updatedAt'],
        dateOnlyFields: ['startDate', 'todayIndexReferenceDate', 'deadlineAt'],
        cursor: { type: 'simple', idField: 'id' },
        /** @param {{ workspaceGroupIds: string[] }} filter */
        buildScopeWhere: (filter) => orm.inArray(tasks.workspaceId, filter.workspaceGroupIds),
      },
      mutate: {
        kind: 'standard',
        actions: new Set(['I', 'U', 'D', 'A', 'V']),
        insertFields,
        updateFields: new Set(Object.keys(insertFields).filter((field) => !FIXED.has(field))),
        /**
         * @param {unknown} _db
         * @param {string} _modelId
         * @param {unknown} _payload
         * @param {object} data
         * @param {{ userId: string }} caller
         */
        onBeforeInsert: (_db, _modelId, _payload, data, caller) => ({ ...data, creatorId: caller.userId }),
      },
    },
  },
});
const server = fastify();
await server.register(websocket);
await server.register(
  /** @param {unknown} scope */
  async (scope) => sync.registerRoutes(scope),
);
process.send?.({ listening: await server.listen({ host: '127.0.0.1', port: 0 }) });
process.on('disconnect', () => process.exit(0));
