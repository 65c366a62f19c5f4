/* oxlint-disable -- nothing here can be typed: its packages are installed only on request. */
// Strata's server as its documentation sets it up. Runs as a copy inside .installed, where its packages are.
/** @param {string} name */
const load = (name) => import(name);
const [{ createSyncServer }, { drizzle }, pg, orm, { default: fastify }, { default: websocket }, { default: driver }] =
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
const pool = new driver.Pool({ connectionString, max: 16 });
await pool.query(`create schema if not exists strata`);
await pool.query(`create table if not exists strata.tasks (
  id uuid primary key, workspace_id uuid not null, number int, title text not null, description text, project_id uuid,
  team_id uuid, assignee_id uuid, creator_id uuid, start text, start_bucket text, start_date timestamptz,
  deadline_at timestamptz, priority int, sort_order text, completed_at timestamptz, archived_at timestamptz,
  created_at timestamptz not null, updated_at timestamptz not null)`);
await pool.query(`create index if not exists tasks_workspace_idx on strata.tasks (workspace_id, id)`);
await pool.query(`create table if not exists strata.sync_actions (
  id bigserial primary key, model varchar(100) not null, model_id uuid not null, action char(1) not null, data jsonb not null,
  group_id uuid, client_id varchar(100), client_tx_id uuid, created_at timestamptz not null default now(),
  constraint sync_actions_client_id_client_tx_id_unique unique (client_id, client_tx_id))`);
await pool.query(`create index if not exists sync_actions_group_idx on strata.sync_actions (group_id, id)`);
await pool.query(`create table if not exists strata.sync_group_memberships (
  id uuid primary key, user_id uuid not null, group_id uuid not null, group_type varchar(50) not null, created_at timestamptz default now())`);

const schema = pg.pgSchema('strata');
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
  start: pg.text('start'),
  startBucket: pg.text('start_bucket'),
  startDate: moment('start_date'),
  deadlineAt: moment('deadline_at'),
  priority: pg.integer('priority'),
  sortOrder: pg.text('sort_order'),
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
  id: pg.uuid('id').primaryKey(),
  userId: pg.uuid('user_id').notNull(),
  groupId: pg.uuid('group_id').notNull(),
  groupType: pg.varchar('group_type', { length: 50 }).notNull(),
  createdAt: moment('created_at').defaultNow(),
});

const dates = ['startDate', 'deadlineAt', 'completedAt', 'archivedAt', 'createdAt', 'updatedAt'];
const fields = Object.keys(orm.getTableColumns(tasks));
const sync = await createSyncServer({
  db: drizzle({ client: pool }),
  tables: { syncActions, syncGroupMemberships },
  auth: {
    verifyToken: async (token) => (token === 'bench' ? { userId } : null),
    resolveGroups: async () => [workspaceId, userId],
  },
  models: {
    Task: {
      table: tasks,
      groupKey: 'workspaceId',
      bootstrap: {
        fields,
        instantFields: dates,
        cursor: { type: 'simple', idField: 'id' },
        buildScopeWhere: (filter) => orm.inArray(tasks.workspaceId, filter.workspaceGroupIds),
      },
      mutate: {
        kind: 'standard',
        actions: new Set(['I', 'U', 'D', 'A', 'V']),
        insertFields: {
          workspaceId: { type: 'string' },
          title: { type: 'string' },
          description: { type: 'stringNull' },
          priority: { type: 'number', defaultValue: 0 },
          createdAt: { type: 'dateNow' },
          updatedAt: { type: 'dateNow' },
        },
        updateFields: new Set(['title', 'description', 'priority']),
      },
    },
  },
});
const server = fastify();
await server.register(websocket);
await server.register(async (scope) => sync.registerRoutes(scope));
process.send?.({ listening: await server.listen({ host: '127.0.0.1', port: 0 }) });
process.on('disconnect', () => process.exit(0));
