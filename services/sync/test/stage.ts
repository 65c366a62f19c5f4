import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { servicePrincipal } from '@wts/access';
import type { ActionName, StoredEntry, Principal, Role } from '@wts/contracts';
import { LogReader } from '@wts/log';
import { modelNamed } from '@wts/models';
import { createLogger } from '@wts/service-kit/observe';
import { openPostgres } from '@wts/service-kit/postgres';
import { testDatabase } from '@wts/testkit';
import type { TestDatabase } from '@wts/testkit';
import type { Pool } from 'pg';
import { CommitEngine, type EngineOptions } from '../src/commit/engine.ts';
import type { Refusal } from '../src/commit/refusal.ts';
import type { AppliedMutation, Mutation, Unit, UnitOutcome } from '../src/commit/unit.ts';
import { CASCADE_BOUNDS, type CascadeBounds } from '../src/commit/need.ts';
import { COMMITTING } from '../src/store/pipeline.ts';
import { Sweeper } from '../src/sweeps/sweeper.ts';

export type Applied = Extract<UnitOutcome, { ok: true }>;
type Payload = Readonly<Record<string, unknown>>;

/** What a unit is sent with, where a test cares. */
export interface Sending {
  readonly clientId?: string;
  readonly clientTxId?: string;
  readonly engine?: CommitEngine;
}

let fastPath = true;

/** Whether engines that are opened from now on use the fast path. */
export function useFastPath(isOn: boolean): void {
  fastPath = isOn;
}

export function openEngine(options: EngineOptions): CommitEngine {
  return new CommitEngine({ fastPath, ...options });
}

/** The commit engines of several replicas on one database, and people who use them. */
export class Stage implements AsyncDisposable {
  readonly database: TestDatabase;
  readonly pool: Pool;
  readonly log: LogReader;
  readonly engines: readonly CommitEngine[];
  readonly #stack: AsyncDisposableStack;
  #turn = 0;

  private constructor(
    database: TestDatabase,
    pools: readonly Pool[],
    stack: AsyncDisposableStack,
    bounds: CascadeBounds,
  ) {
    this.database = database;
    this.#stack = stack;
    this.pool = pools[0]!;
    this.log = new LogReader(this.pool);
    this.engines = pools.map((pool) => openEngine({ pool, bounds }));
  }

  /** With a server of one's own when the URL of its superuser is given. */
  static async open(label: string, replicas = 2, bounds?: Partial<CascadeBounds>, adminUrl?: string): Promise<Stage> {
    const where = adminUrl === undefined ? {} : { adminUrl };
    const database = await testDatabase(label, { migrated: true, ...where });
    const stack = new AsyncDisposableStack();
    const log = createLogger({ name: 'test', level: 'silent' });
    const url = database.urlOf('wts_sync');
    const pools = Array.from(
      { length: replicas },
      () => openPostgres({ url, poolMax: 8, applicationName: 'wts-sync', ...COMMITTING, log, stack }).pool,
    );
    return new Stage(database, pools, stack, { ...CASCADE_BOUNDS, ...bounds });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
    await this.database.drop();
  }

  /** Any replica: each in turn. */
  get engine(): CommitEngine {
    this.#turn += 1;
    return this.engines[this.#turn % this.engines.length]!;
  }

  async send(unit: Unit, engine: CommitEngine = this.engine): Promise<UnitOutcome> {
    const [outcome] = await engine.commit([unit]);
    return outcome!;
  }

  /** As another service does it. */
  async decided(actorId: string, ...mutations: readonly Mutation[]): Promise<Applied> {
    const principal = { ...servicePrincipal('workspace'), userId: actorId };
    return applied(
      await this.send({ principal, authority: 'service', clientId: 'workspace', clientTxId: randomUUID(), mutations }),
    );
  }

  async person(name = 'Ada'): Promise<Someone> {
    const id = randomUUID();
    await this.decided(id, change('INSERT', 'User', id, { name }));
    return new Someone(this, id);
  }

  async workspace(owner: Someone, urlKey = `w-${randomUUID().slice(0, 18)}`): Promise<string> {
    const id = randomUUID();
    await this.decided(
      owner.id,
      change('INSERT', 'Workspace', id, { name: 'Office', urlKey }),
      membership(id, owner.id, 'owner'),
    );
    return id;
  }

  async join(workspaceId: string, role: Role): Promise<Someone> {
    const someone = await this.person(role);
    await this.decided(someone.id, membership(workspaceId, someone.id, role));
    return someone;
  }

  /** What was left of deletions and moves is done: by this replica, or another one. */
  async sweep(engine: CommitEngine = this.engine): Promise<void> {
    const sweeper = new Sweeper({ pool: this.pool, engine });
    while (await sweeper.turn());
  }

  /** Sweeps that wait. */
  async sweeps(): Promise<number> {
    return (await this.pool.query<{ n: number }>('select count(*)::int as n from sync.sweeps')).rows[0]!.n;
  }

  /** The log after a place, whole. */
  async entries(after = 0n): Promise<readonly StoredEntry[]> {
    return (await this.log.read(after, 1_000_000)).entries;
  }

  async head(): Promise<bigint> {
    return (await this.log.head()).head;
  }

  async stored(model: string, id: string): Promise<{ groupId: string; record: Record<string, unknown> } | null> {
    const { rows } = await this.pool.query<{ groupId: string; record: Record<string, unknown> }>(
      `select group_id as "groupId", record from sync.${modelNamed(model).table} where id = $1`,
      [id],
    );
    return rows[0] ?? null;
  }
}

/** A person with a device: sends one change at a time. */
export class Someone {
  readonly stage: Stage;
  readonly id: string;
  readonly principal: Principal;
  readonly clientId: string;

  constructor(stage: Stage, id: string, restriction: Partial<Principal> = {}) {
    this.stage = stage;
    this.id = id;
    this.principal = { userId: id, scopes: ['write'], credential: { kind: 'jwt', id }, ...restriction };
    this.clientId = `device of ${id}`;
  }

  /** The same person with a credential for one workspace. */
  within(workspaceId: string): Someone {
    return new Someone(this.stage, this.id, { workspaceId });
  }

  unit(mutation: Mutation, { clientId, clientTxId }: Sending = {}): Unit {
    return {
      principal: this.principal,
      authority: 'caller',
      clientId: clientId ?? this.clientId,
      clientTxId: clientTxId ?? randomUUID(),
      mutations: [mutation],
    };
  }

  async try(
    action: ActionName,
    model: string,
    id: string,
    payload: Payload = {},
    sending: Sending = {},
  ): Promise<UnitOutcome> {
    return this.stage.send(this.unit(change(action, model, id, payload), sending), sending.engine);
  }

  /** Makes a record; its id. */
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

/** Entries in short: who hears what of which record, in order. */
export function brief(entries: readonly StoredEntry[], names: Readonly<Record<string, string>>): string[] {
  const name = (id: string): string => Object.entries(names).find(([, value]) => value === id)?.[0] ?? '?';
  return entries.map(({ action, modelName, modelId, groupId }) => {
    const known = name(modelId);
    return `${action} ${known === '?' ? modelName : known} for ${name(groupId)}`;
  });
}
