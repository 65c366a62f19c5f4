import { buildRecord, layoutOf, modelNamed, readInsert, type RecordOf, type Model } from '@wts/models';
import { GroupCache } from '@wts/read-model';
import { Contention, FairGate, LoopTurns } from '@wts/service-kit/fairness';
import { testDatabase, type TestDatabase } from '@wts/testkit';
import type { Principal } from '@wts/contracts';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { execute, type ExecutionResult } from 'graphql';
import { Pool } from 'pg';
import type { RequestContext } from '../src/graphql/request-context.ts';
import { Answers } from '../src/domain/answer-bytes.ts';
import { Documents, type Document } from '../src/graphql/documents.ts';
import { Charge } from '../src/graphql/rules/cost.ts';
import { SCHEMA } from '../src/graphql/schema.ts';
import { GRAPH_LIMITS } from '../src/limits.ts';
import { Reads, type ReadSources } from '../src/queries/reads.ts';
import { Statements } from '../src/store/statements.ts';

type Values = Readonly<Record<string, unknown>>;

const documents = new Documents({ schema: SCHEMA });

/** A valid document, parsed once. */
function documentOf(query: string): Document {
  const found = documents.find({ text: query, hash: null });
  return 'ast' in found ? found : assert.fail(`${query}: ${found[0]?.message}`);
}

/** A record to store; its group is its workspace unless another is given. */
export interface NewRow {
  readonly model: string;
  readonly values: Values;
  readonly id?: string;
  readonly groupId?: string;
  /** Of a record that has no field for it. */
  readonly workspaceId?: string;
  readonly createdAt?: string;
  readonly archivedAt?: string | null;
}

export interface Asked {
  readonly variables?: Readonly<Record<string, unknown>>;
  /** A credential for one workspace. */
  readonly workspaceId?: string;
  readonly minSyncId?: string;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly data: unknown;
  readonly errors: NonNullable<ExecutionResult['errors']>;
  /** How many statements were run. */
  readonly statements: number;
}

/**
 * A database with records that a test stores as the commit of the sync service would, in any number, and the schema of this service
 * over it. The commit itself is tested in the sync service, and both together in test-e2e.
 */
export class Records implements AsyncDisposable {
  readonly database: TestDatabase;
  /** With the rights of this service. */
  readonly pool: Pool;
  /** With the rights of the sync service. */
  readonly sync: Pool;
  readonly sources: ReadSources;
  #place = 0;

  constructor(database: TestDatabase) {
    this.database = database;
    this.pool = new Pool({ connectionString: database.urlOf('wts_graph'), max: 8 });
    this.sync = new Pool({ connectionString: database.urlOf('wts_sync'), max: 2 });
    const { pool } = this;
    const gate = new FairGate({ slots: 8, waitMs: 60_000, waitingMax: 1_000, refusal: 'Too much' });
    const statements = new Statements([{ pool, cancelPool: pool, gate }]);
    this.sources = { pool, statements, standby: null, groupCache: new GroupCache() };
  }

  static async open(label: string): Promise<Records> {
    return new Records(await testDatabase(label, { migrated: true }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pool.end();
    await this.sync.end();
    await this.database.drop();
  }

  async store(rows: readonly NewRow[]): Promise<RecordOf<Model>[]> {
    const made: RecordOf<Model>[] = [];
    // Its entries would show the cache who gained a group; these rows have none.
    this.sources.groupCache.invalidate();
    for (const [model, all] of Map.groupBy(rows, ({ model: name }) => modelNamed(name))) {
      const built = all.map((row) => this.#build(model, row));
      await this.#insert(model, built);
      made.push(...built.map(({ record }) => record));
    }
    return made;
  }

  async one(row: NewRow): Promise<RecordOf<Model>> {
    const [record] = await this.store([row]);
    return record ?? assert.fail('a stored record');
  }

  /** A person; they see what the groups that they join see. */
  async person(name = 'Person'): Promise<string> {
    const id = randomUUID();
    await this.one({ model: 'User', id, values: { name, username: `u-${id.slice(0, 8)}` }, groupId: id });
    await this.sync.query(`insert into sync.user_audiences (user_id, group_id) values ($1, $1)`, [id]);
    return id;
  }

  async workspace(name: string, ...members: readonly string[]): Promise<string> {
    const id = randomUUID();
    await this.one({ model: 'Workspace', id, values: { name, urlKey: `w-${id.slice(0, 12)}` }, groupId: id });
    for (const userId of members) await this.join(id, userId);
    return id;
  }

  async join(workspaceId: string, userId: string, role = 'member'): Promise<void> {
    await this.one({ model: 'WorkspaceMember', values: { workspaceId, userId, role } });
    await this.sync.query(`insert into sync.user_audiences (user_id, group_id) values ($1, $2)`, [userId, workspaceId]);
  }

  async project(
    workspaceId: string,
    creatorId: string,
    more: Values & { members?: readonly string[] } = {},
  ): Promise<string> {
    const { members, ...values } = more;
    const id = randomUUID();
    const isPrivate = members !== undefined;
    const given = { workspaceId, creatorId, key: `P${id.slice(0, 8)}`, name: 'Project', isPrivate, ...values };
    await this.one({ model: 'Project', id, values: given, groupId: isPrivate ? id : workspaceId });
    for (const userId of members ?? [])
      await this.one({ model: 'ProjectMember', values: { projectId: id, userId }, workspaceId, groupId: id });
    return id;
  }

  /** Asks as a person. */
  async ask(userId: string, query: string, asked: Asked = {}): Promise<Answer> {
    const { variables = {}, workspaceId, minSyncId, signal = new AbortController().signal } = asked;
    const document = documentOf(query);
    const principal: Principal = {
      userId,
      scopes: ['read'],
      credential: { kind: 'jwt', id: 'test' },
      ...(workspaceId === undefined ? {} : { workspaceId }),
    };
    const bytes = new Answers().open(userId);
    const caller = { principal, requestId: 'test', signal, bytes, ...(minSyncId === undefined ? {} : { minSyncId }) };
    const reads = new Reads(this.sources, caller);
    const { ast, operations } = document;
    const [operation = assert.fail('an operation')] = operations;
    const charge = new Charge(operation.cost, variables);
    const turns = new LoopTurns(new Contention(), GRAPH_LIMITS.turnFields);
    const contextValue = { ...caller, reads, charge, turns } as unknown as RequestContext;
    const result = await execute({ schema: SCHEMA, document: ast, contextValue, variableValues: variables });
    return { data: result.data, errors: result.errors ?? [], statements: reads.statements };
  }

  /** The data of an answer without errors, in the shape of what was selected. */
  async data<T>(userId: string, query: string, asked: Asked = {}): Promise<T> {
    const { data, errors } = await this.ask(userId, query, asked);
    assert.deepEqual(errors, [], query);
    // Without the prototypes, which objects of an answer do not have.
    return JSON.parse(JSON.stringify(data)) as T;
  }

  #build(model: Model, row: NewRow): { record: RecordOf<Model>; groupId: string; workspaceId: string | null } {
    this.#place += 1;
    const reading = readInsert(model, row.values);
    assert.ok(reading.ok, JSON.stringify(reading));
    const createdAt = row.createdAt ?? new Date(Date.UTC(2026, 0, 1) + this.#place).toISOString();
    const assigned = Object.entries(row.values).filter(([field]) => model.fields[field]?.assigned !== undefined);
    const values = { ...reading.value, number: this.#place, ...Object.fromEntries(assigned) };
    const times = { createdAt, updatedAt: createdAt, archivedAt: row.archivedAt ?? null };
    const record = buildRecord(model, row.id ?? randomUUID(), values, times);
    const workspaceId =
      model.name === 'Workspace'
        ? record.id
        : ((row.values['workspaceId'] as string | undefined) ?? row.workspaceId ?? null);
    return { record, workspaceId, groupId: row.groupId ?? workspaceId ?? record.id };
  }

  async #insert(
    model: Model,
    rows: readonly { record: RecordOf<Model>; groupId: string; workspaceId: string | null }[],
  ): Promise<void> {
    const { table, columns } = layoutOf(model);
    const names = columns.map(({ name }) => name).join(', ');
    const typed = columns.map(({ field, type }) => `"${field}" ${type}`).join(', ');
    const values = columns.map(({ field }) => `r."${field}"`).join(', ');
    await this.sync.query(
      `insert into ${table} (${names}, workspace_id, group_id, record)
        select ${values}, (s.one->>'workspaceId')::uuid, (s.one->>'groupId')::uuid, s.one->'record'
        from json_array_elements($1::json) s(one), json_to_record(s.one->'record') as r (${typed})`,
      [JSON.stringify(rows)],
    );
  }
}
