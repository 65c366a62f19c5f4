import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { servicePrincipal } from '@wts/access';
import { SCOPES, type ActionName, type ModelRecord, type StoredEntry, type Principal, type Role } from '@wts/contracts';
import { LogReader } from '@wts/log';
import { modelNamed } from '@wts/models';
import { GroupReader } from '@wts/read-model';
import { createLogger } from '@wts/service-kit/observe';
import { openPostgres } from '@wts/service-kit/postgres';
import { testDatabase, type TestDatabase } from '@wts/testkit';
import type { Pool } from 'pg';
import { CommitEngine, type EngineOptions } from '../src/commit/engine.ts';
import type { Refusal } from '../src/decision/refusal.ts';
import type { AppliedMutation, Mutation, Unit, UnitOutcome } from '../src/decision/unit.ts';
import { CASCADE_BOUNDS, type CascadeBounds } from '../src/decision/lookup.ts';
import { COMMITTING } from '../src/store/pipeline.ts';
import { Sweeper } from '../src/sweeps/sweeper.ts';

export type Applied = Extract<UnitOutcome, { ok: true }>;
type Payload = Readonly<Record<string, unknown>>;

/** Of a unit, where a test cares. */
export interface UnitKey {
  readonly clientId?: string;
  readonly clientTxId?: string;
}

/** The application name of the sessions of engines. */
export const ENGINES = 'wts-sync';

let fastPath = true;

/** Whether engines that are opened from now on use the fast path. */
export function useFastPath(isOn: boolean): void {
  fastPath = isOn;
}

export function openEngine(options: EngineOptions): CommitEngine {
  return new CommitEngine({ fastPath, ...options });
}

/** The commit engines of several replicas on one database, and the people who use them. */
export class TestEngines implements AsyncDisposable {
  readonly database: TestDatabase;
  /** The sessions of the first engine. */
  readonly pool: Pool;
  /** Sessions that no test ends: what was committed is read here, also after the sessions of the engines were lost. */
  readonly checks: Pool;
  readonly log: LogReader;
  readonly all: readonly CommitEngine[];
  readonly #stack: AsyncDisposableStack;
  #turn = 0;

  private constructor(
    database: TestDatabase,
    pools: { readonly engines: readonly Pool[]; readonly checks: Pool },
    stack: AsyncDisposableStack,
    bounds: CascadeBounds,
  ) {
    this.database = database;
    this.#stack = stack;
    this.pool = pools.engines[0]!;
    this.checks = pools.checks;
    this.log = new LogReader(pools.checks);
    this.all = pools.engines.map((pool) => openEngine({ pool, bounds }));
  }

  static async open(label: string, replicas = 2, bounds?: Partial<CascadeBounds>): Promise<TestEngines> {
    return TestEngines.on(await testDatabase(label, { migrated: true }), replicas, bounds);
  }

  /** With a workspace and its owner. */
  static async withOwner(...given: Parameters<typeof TestEngines.open>): ReturnType<TestEngines['newWorkspace']> {
    return (await TestEngines.open(...given)).newWorkspace();
  }

  /** On a database with the tables of sync, which it drops in the end. */
  static on(database: TestDatabase, replicas: number, bounds?: Partial<CascadeBounds>): TestEngines {
    const stack = new AsyncDisposableStack();
    const log = createLogger({ name: 'test', level: 'silent' });
    const url = database.urlOf('wts_sync');
    const opened = Array.from(
      { length: replicas },
      () => openPostgres({ url, poolMax: 8, applicationName: ENGINES, ...COMMITTING, log, stack }).pool,
    );
    const checks = openPostgres({ url, poolMax: 4, applicationName: 'checks', log, stack }).pool;
    return new TestEngines(database, { engines: opened, checks }, stack, { ...CASCADE_BOUNDS, ...bounds });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
    await this.database.drop();
  }

  async newWorkspace(): Promise<{ engines: TestEngines; owner: TestPerson; workspace: string }> {
    const owner = await this.person();
    return { engines: this, owner, workspace: await this.workspace(owner) };
  }

  /** The replicas by turns. */
  get any(): CommitEngine {
    this.#turn += 1;
    return this.all[this.#turn % this.all.length]!;
  }

  async send(unit: Unit, engine: CommitEngine = this.any): Promise<UnitOutcome> {
    const [outcome] = await engine.commit([unit]);
    return outcome!;
  }

  /** A unit that another service decided on. */
  async decided(actorId: string, ...mutations: readonly Mutation[]): Promise<Applied> {
    const principal = { ...servicePrincipal('workspace'), userId: actorId };
    return applied(
      await this.send({ principal, authority: 'service', clientId: 'workspace', clientTxId: randomUUID(), mutations }),
    );
  }

  async person(name = 'Ada'): Promise<TestPerson> {
    const id = randomUUID();
    await this.decided(id, change('INSERT', 'User', id, { name }));
    return new TestPerson(this, id);
  }

  async workspace(owner: TestPerson, urlKey = `w-${randomUUID().slice(0, 18)}`): Promise<string> {
    const id = randomUUID();
    await this.decided(
      owner.id,
      change('INSERT', 'Workspace', id, { name: 'Office', urlKey }),
      membership(id, owner.id, 'owner'),
    );
    return id;
  }

  async join(workspaceId: string, role: Role): Promise<TestPerson> {
    const person = await this.person(role);
    await this.decided(person.id, membership(workspaceId, person.id, role));
    return person;
  }

  /** Runs the sweeps that wait, until none is left. */
  async sweep(engine: CommitEngine = this.any): Promise<void> {
    const sweeper = new Sweeper({ pool: this.pool, engine });
    while (await sweeper.turn());
  }

  /** Counts the sweeps that wait. */
  async sweeps(): Promise<number> {
    return (await this.checks.query<{ n: number }>('select count(*)::int as n from sync.sweeps')).rows[0]!.n;
  }

  /** All entries after a position. */
  async entries(after = 0n): Promise<readonly StoredEntry[]> {
    return (await this.log.read(after, 1_000_000)).entries;
  }

  async head(): Promise<bigint> {
    return (await this.log.head()).head;
  }

  async stored(model: string, id: string): Promise<{ groupId: string; record: Record<string, unknown> } | null> {
    const { rows } = await this.checks.query<{ groupId: string; record: Record<string, unknown> }>(
      `select group_id as "groupId", record from sync.${modelNamed(model).table} where id = $1`,
      [id],
    );
    return rows[0] ?? null;
  }

  /** The id of the membership of a person of a workspace or project. */
  async membershipOf(homeId: string, { id }: TestPerson, home = 'workspace'): Promise<string> {
    const sql = `select id from sync.${home}_members where ${home}_id = $1 and user_id = $2`;
    return (await this.checks.query<{ id: string }>(sql, [homeId, id])).rows[0]!.id;
  }

  /** The tasks of a series in the order in which they were made. */
  async tasksOf(seriesId: string): Promise<readonly ModelRecord[]> {
    const { rows } = await this.checks.query<{ record: ModelRecord }>(
      'select record from sync.tasks where repeat_template_id = $1 order by number',
      [seriesId],
    );
    return rows.map(({ record }) => record);
  }
}

/** A person with one device, which sends one change at a time. */
export class TestPerson {
  readonly engines: TestEngines;
  readonly id: string;
  readonly principal: Principal;
  readonly clientId: string;

  constructor(engines: TestEngines, id: string, restriction: Partial<Principal> = {}) {
    this.engines = engines;
    this.id = id;
    this.principal = { userId: id, scopes: SCOPES, credential: { kind: 'jwt', id }, ...restriction };
    this.clientId = `device of ${id}`;
  }

  /** The groups whose entries they get. */
  async groups(): Promise<ReadonlySet<string>> {
    return (await new GroupReader(this.engines.pool).of(this.id)).groups;
  }

  /** The same person with a credential for one workspace. */
  within(workspaceId: string): TestPerson {
    return new TestPerson(this.engines, this.id, { workspaceId });
  }

  unit(mutation: Mutation, { clientId, clientTxId }: UnitKey = {}): Unit {
    return {
      principal: this.principal,
      authority: 'caller',
      clientId: clientId ?? this.clientId,
      clientTxId: clientTxId ?? randomUUID(),
      mutations: [mutation],
    };
  }

  async try(action: ActionName, model: string, id: string, payload: Payload = {}): Promise<UnitOutcome> {
    return this.engines.send(this.unit(change(action, model, id, payload)));
  }

  /** Creates a record and returns its id. */
  async make(model: string, payload: Payload, id: string = randomUUID()): Promise<string> {
    applied(await this.try('INSERT', model, id, payload));
    return id;
  }

  async change(model: string, id: string, payload: Payload): Promise<AppliedMutation> {
    return only(await this.try('UPDATE', model, id, payload));
  }

  async delete(model: string, id: string): Promise<Applied> {
    return applied(await this.try('DELETE', model, id));
  }
}

export function change(action: ActionName, modelName: string, modelId: string, payload: Payload = {}): Mutation {
  return { action, modelName, modelId, payload };
}

export function membership(workspaceId: string, userId: string, role: Role, id: string = randomUUID()): Mutation {
  return change('INSERT', 'WorkspaceMember', id, { workspaceId, userId, role });
}

export function applied(outcome: UnitOutcome): Applied {
  assert.ok(outcome.ok, outcome.ok ? '' : `${outcome.code}: ${outcome.error}`);
  return outcome;
}

export function only(outcome: UnitOutcome): AppliedMutation {
  return applied(outcome).mutations[0]!;
}

export function refused(outcome: UnitOutcome): Refusal {
  assert.ok(!outcome.ok, 'it was applied');
  return outcome;
}

/** Entries in short, in order: the action, its record and its group. */
export function brief(entries: readonly StoredEntry[], names: Readonly<Record<string, string>>): string[] {
  const name = (id: string): string => Object.entries(names).find(([, value]) => value === id)?.[0] ?? '?';
  return entries.map(({ action, modelName, modelId, groupId }) => {
    const known = name(modelId);
    return `${action} ${known === '?' ? modelName : known} for ${name(groupId)}`;
  });
}
