import { Fault, isUuid, parseSyncId } from '@wts/contracts';
import { hasEntries, LogReader, type Queryable } from '@wts/log';
import type { Model } from '@wts/models';
import { GroupReader, poll, type GroupCache, type Standby } from '@wts/read-model';
import DataLoader from 'dataloader';
import { GraphQLError } from 'graphql';
import type { Caller } from '../domain/caller.ts';
import { invalid } from '../domain/errors.ts';
import {
  pageOf,
  pagesStatement,
  pageStatement,
  totalsStatement,
  totalStatement,
  type Connection,
  type Found,
  type Page,
  type Parents,
} from '../store/connection.ts';
import type { Pool } from 'pg';
import { readHistory, type History, type HistoryRequest } from '../store/history.ts';
import { ALL_TEXTS, type Wants } from '../store/record.ts';
import { nodesStatement, ownWorkspacesStatement, recordsStatement, rolesStatement } from '../store/records.ts';
import { searchStatement, type SearchRequest } from '../store/search.ts';
import {
  trashCountStatement,
  trashIdsStatement,
  trashStatement,
  type TrashedTask,
  type TrashPart,
  type TrashRequest,
} from '../store/trash.ts';
import { hasFewGroups, StatementWriter, type Reader, type Statement } from '../store/statement.ts';
import type { Statements } from '../store/statements.ts';
import { GRAPH_LIMITS } from '../limits.ts';

/** The model of a record, for types that may be of any model. */
function withTypename(model: string, record: Found): Found {
  (record as { __typename?: string }).__typename = model;
  return record;
}

interface Ready {
  readonly reader: Reader;
  readonly pool: Pool;
}

/** Every statement returns one value. */
interface FoundRow {
  readonly found: unknown;
}

interface Hit {
  readonly model: string;
  readonly score: number;
  readonly record: Found;
}

/** The records that refer to a parent, or that it refers to. */
export type Scope =
  | Pick<Extract<Parents, { ids: unknown }>, 'inverse'>
  | Pick<Extract<Parents, { lists: unknown }>, 'relation'>;

/** The pages and the totals of one connection field, for all parents of its level. */
export interface Level {
  readonly connection: Connection;
  page(parent: Found): Promise<Page>;
  total(parent: Found): Promise<number>;
}

/** The databases of this service, opened once. */
export interface ReadSources {
  /** The primary. */
  readonly pool: Pool;
  readonly standby: Standby | null;
  readonly statements: Statements;
  readonly groupCache: GroupCache;
}

/**
 * What one request reads. Every statement selects through the predicate of `@wts/read-model`, by the groups of the caller: as they are
 * in its own snapshot, or as they were read once for the request, at the primary. Fields of one level are read together, so the number
 * of statements depends on the query and not on the records. Keeps graphql.reads.level.
 */
export class Reads {
  readonly caller: Caller;
  /** How many statements were run. */
  statements = 0;
  readonly #sources: ReadSources;
  #reached: bigint;
  #ready: Promise<Ready> | null = null;
  readonly #handOuts = new HandOuts();
  /** By model, or by field of the query. */
  readonly #loaders = new Map<unknown, unknown>();

  constructor(sources: ReadSources, caller: Caller) {
    this.caller = caller;
    this.#sources = sources;
    this.#reached = positionOf(caller.minSyncId ?? '0');
  }

  /** What is read from now on has at least this position of the log. Keeps graphql.reads.position. */
  reach(syncId: string): void {
    const position = positionOf(syncId);
    if (position <= this.#reached) return;
    this.#reached = position;
    this.refresh();
  }

  /** What is read from now on is read again, such as after a change of this request. */
  refresh(): void {
    this.#ready = null;
    this.#loaders.clear();
  }

  /** Null for a record that does not exist, or that the caller may not see. */
  async byId(model: Model, id: string, wants: Wants = ALL_TEXTS): Promise<Found | null> {
    if (!isUuid(id)) throw invalid('An id is a UUID');
    return this.related(model, id.toLowerCase(), wants);
  }

  /** A record that another one refers to. */
  related(model: Model, id: string, wants: Wants): Promise<Found | null> {
    return this.#loader(model, async (ids: readonly string[]) => {
      const records = (await this.read((sql) => recordsStatement(model, ids, sql, wants))) as readonly Found[];
      const found = new Map(records.map((record) => [record.id, withTypename(model.name, record)]));
      return ids.map((one) => found.get(one) ?? null);
    }).load(id);
  }

  /**
   * Until it is disposed of, records are handed out whose fields may read others. What these read is read together with what those
   * of the other lists of their level read, in one statement, when the last list of them has been handed out.
   */
  handOut(): Disposable {
    return this.#handOuts.begin();
  }

  /** A record of any model. */
  async node(id: string, wants: Wants): Promise<Found | null> {
    if (!isUuid(id)) throw invalid('An id is a UUID');
    return this.#loader('node', async (ids: readonly string[]) => {
      const nodes = (await this.read((sql) => nodesStatement(ids, sql, wants))) as readonly Hit[];
      const found = new Map(nodes.toReversed().map(({ model, record }) => [record.id, withTypename(model, record)]));
      return ids.map((one) => found.get(one) ?? null);
    }).load(id.toLowerCase());
  }

  async page(connection: Connection): Promise<Page> {
    const records = (await this.read((sql) => pageStatement(connection, sql))) as readonly Found[];
    return pageWithTypenames(connection, records);
  }

  async total(connection: Connection): Promise<number> {
    return (await this.read((sql) => totalStatement(connection, sql))) as number;
  }

  /** The connection of a field inside records. `field` identifies the field of the query, whose arguments are the same for all parents. */
  level(field: object, scope: Scope, connection: () => Connection): Level {
    const known = this.#loaders.get(field) as Level | undefined;
    if (known !== undefined) return known;
    const level = this.#openLevel(scope, connection());
    this.#loaders.set(field, level);
    return level;
  }

  async search(request: SearchRequest): Promise<readonly Hit[]> {
    const hits = (await this.read((sql) => searchStatement(request, sql))) as readonly Hit[];
    for (const { model, record } of hits) withTypename(model, record);
    return hits;
  }

  async history(request: HistoryRequest): Promise<History> {
    const { reader, pool } = await this.#readerWithGroups();
    return readHistory(request, reader, (statement) => this.#run(pool, statement));
  }

  async trash(request: TrashRequest): Promise<readonly TrashedTask[]> {
    const found = (await this.read((sql) => trashStatement(request, sql))) as readonly TrashedTask[];
    for (const { task } of found) withTypename('Task', task);
    return found;
  }

  async trashCount(workspaceId: string): Promise<number> {
    return (await this.read((sql) => trashCountStatement({ workspaceId, isGuest: false }, sql))) as number;
  }

  /** How many tasks of the Trash the caller may delete; sync decides it again for each of them. */
  async deletableTrash(workspaceId: string): Promise<number> {
    const part = await this.#deletablePart(workspaceId);
    return (await this.read((sql) => trashCountStatement(part, sql))) as number;
  }

  /** The oldest of them. */
  async oldestTrash(workspaceId: string, limit: number): Promise<readonly { id: string; archivedAt: string }[]> {
    const part = await this.#deletablePart(workspaceId);
    return (await this.read((sql) => trashIdsStatement(part, limit, sql))) as { id: string; archivedAt: string }[];
  }

  async #deletablePart(workspaceId: string): Promise<TrashPart> {
    return { workspaceId, isGuest: (await this.roleIn(workspaceId)) === 'guest' };
  }

  async ownWorkspaces(urlKey: string | null = null): Promise<readonly Found[]> {
    const found = (await this.read((sql) => ownWorkspacesStatement(urlKey, sql))) as readonly Found[];
    return found.map((record) => withTypename('Workspace', record));
  }

  /** The role of the caller in a workspace. */
  roleIn(workspaceId: string): Promise<string | null> {
    return this.#loader('role', async (ids: readonly string[]) => {
      const roles = (await this.read((sql) => rolesStatement(ids, sql))) as { workspaceId: string; role: string }[];
      const found = new Map(roles.map(({ workspaceId: id, role }) => [id, role]));
      return ids.map((id) => found.get(id) ?? null);
    }).load(workspaceId);
  }

  #openLevel(scope: Scope, connection: Connection): Level {
    const parentsOf = (records: readonly Found[]): Parents =>
      'inverse' in scope
        ? { ...scope, ids: records.map(({ id }) => id) }
        : { ...scope, lists: records.map((record) => (record[scope.relation.field] ?? []) as readonly string[]) };
    // Parents such as the workspace of many tasks are the same record many times.
    const cacheKeyFn = ({ id }: Found): string => id;
    const pages = new DataLoader(
      async (records: readonly Found[]) => {
        const found = await this.read((sql) => pagesStatement(connection, parentsOf(records), sql));
        return (found as readonly (readonly Found[])[]).map((page) => pageWithTypenames(connection, page));
      },
      { cacheKeyFn, ...this.#handOuts.options },
    );
    const totals = new DataLoader(
      async (records: readonly Found[]) =>
        (await this.read((sql) => totalsStatement(connection, parentsOf(records), sql))) as readonly number[],
      { cacheKeyFn, ...this.#handOuts.options },
    );
    return { connection, page: (parent) => pages.load(parent), total: (parent) => totals.load(parent) };
  }

  #loader<T>(key: unknown, batch: (ids: readonly string[]) => Promise<readonly T[]>): DataLoader<string, T> {
    const known = this.#loaders.get(key) as DataLoader<string, T> | undefined;
    if (known !== undefined) return known;
    const loader = new DataLoader<string, T>(batch, this.#handOuts.options);
    this.#loaders.set(key, loader);
    return loader;
  }

  /** The value of one statement for the caller; undefined when none is written. */
  async read(write: (sql: StatementWriter) => Statement | null): Promise<unknown> {
    const { reader, pool } = this.#readerOfThisSnapshot() ?? (await this.#readerWithGroups());
    const statement = write(new StatementWriter(reader));
    return statement === null ? undefined : this.#run(pool, statement);
  }

  /**
   * A reader with few groups needs no statement for them: each statement selects by their memberships as they are in its snapshot. The
   * cached groups only show that they are few. Null also with a replica, which must have what the primary has.
   */
  #readerOfThisSnapshot(): Ready | null {
    const { pool, standby, groupCache } = this.#sources;
    const { userId, workspaceId } = this.caller.principal;
    if (standby !== null || this.#ready !== null) return null;
    const person = new GroupReader(pool, groupCache).recent(GROUPS_COUNTED_MS, userId, workspaceId);
    if (person === null || person.at < this.#reached || !hasFewGroups(person)) return null;
    return { reader: { userId, workspaceId: workspaceId ?? null, person, isLive: true }, pool };
  }

  async #run(pool: Pool, statement: Statement): Promise<unknown> {
    return (await this.#rows(pool, statement))[0]?.found;
  }

  async #rows(pool: Pool, query: Statement): Promise<FoundRow[]> {
    const { statements, pool: primary } = this.#sources;
    const { caller } = this;
    this.statements += 1;
    try {
      return await statements.rows<FoundRow>(caller, pool, query);
    } catch (error) {
      // The replica may disconnect, or end a statement whose rows its replay removes. The primary has everything it had. What this
      // service refused by its own bounds is no failure of the replica.
      if (pool === primary || caller.signal.aborted || error instanceof Fault || error instanceof GraphQLError)
        throw error;
      return statements.rows<FoundRow>(caller, primary, query);
    }
  }

  #readerWithGroups(): Promise<Ready> {
    return (this.#ready ??= this.#prepare(this.#reached));
  }

  /** The caller's groups are those of the primary. A replica is read when it has all that these groups had there. Keeps graphql.reads.replica. */
  async #prepare(reached: bigint): Promise<Ready> {
    const { pool: primary, standby, groupCache } = this.#sources;
    const { userId, workspaceId } = this.caller.principal;
    const groups = new GroupReader(this.#meteredDatabase(), groupCache);
    let person = await groups.of(userId, workspaceId);
    if (person.at < reached) {
      await this.#untilReached(reached);
      person = await groups.of(userId, workspaceId);
    }
    const reader = { userId, workspaceId: workspaceId ?? null, person, isLive: false };
    if (standby === null) return { reader, pool: primary };
    const changedSince = (position: bigint): Promise<boolean> =>
      hasEntries(this.#meteredDatabase(), [...person.groups], position);
    return { reader, pool: (await standby.poolFor({ person, reached, changedSince })) ?? primary };
  }

  async #untilReached(position: bigint): Promise<void> {
    const log = new LogReader(this.#meteredDatabase());
    const { signal } = this.caller;
    const isReached = await poll(
      async () => {
        signal.throwIfAborted();
        return (await log.head()).head >= position ? true : null;
      },
      { everyMs: 25, timeoutMs: GRAPH_LIMITS.positionWaitMs },
    );
    if (isReached === true) return;
    throw new Fault('unavailable', {
      message: `The log has not reached position ${position} yet; try again shortly`,
      retryAfterSeconds: 1,
    });
  }

  #meteredDatabase(): Queryable {
    const { pool, statements } = this.#sources;
    const query = async (given: string | Statement, more: readonly unknown[] = []): Promise<unknown> => {
      this.statements += 1;
      const { text, values } = typeof given === 'string' ? { text: given, values: more } : given;
      return { rows: await statements.rows(this.caller, pool, { text, values, isPlannedByValues: true }) };
    };
    return { query } as unknown as Queryable;
  }
}

/** Lists whose records are being handed out in several turns of the event loop. */
class HandOuts {
  #running = 0;
  #batches: (() => void)[] = [];
  /** Of loaders: a batch has what is asked for in one turn, and in all turns of the lists that are being handed out. */
  readonly options = {
    batchScheduleFn: (dispatch: () => void): void => {
      if (this.#running > 0) this.#batches.push(dispatch);
      else afterTurn(dispatch);
    },
  };

  begin(): Disposable {
    this.#running += 1;
    return {
      [Symbol.dispose]: () => {
        this.#running -= 1;
        if (this.#running > 0) return;
        for (const dispatch of this.#batches.splice(0)) afterTurn(dispatch);
      },
    };
  }
}

/** When everything that is ready has run, as the loaders themselves do it. */
function afterTurn(dispatch: () => void): void {
  void Promise.resolve().then(() => process.nextTick(dispatch));
}

/** So long a reader with few groups is taken to have few. */
const GROUPS_COUNTED_MS = 60_000;

function pageWithTypenames(connection: Connection, rows: readonly Found[]): Page {
  const page = pageOf(connection, rows);
  for (const record of page.records) withTypename(connection.model.name, record);
  return page;
}

function positionOf(syncId: string): bigint {
  const position = parseSyncId(syncId);
  if (position === null) throw invalid('minSyncId must be a position of the log, such as "42"');
  return position;
}
