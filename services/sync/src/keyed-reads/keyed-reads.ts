import { Fault, isUuid, parseSyncId, type BatchRequest, type Principal } from '@wts/contracts';
import { findModel, indexedKeysOf, MODELS, snakeCase, unknownModel, type Model } from '@wts/models';
import {
  uuidList,
  visibleSelections,
  visibleSql,
  type PersonGroups,
  type Selection,
  type Viewer,
} from '@wts/read-model';
import {
  SpooledSnapshot,
  tooManySnapshots,
  type Encoding,
  type SnapshotReader,
  type SnapshotTools,
} from '../snapshots/spooled-snapshot.ts';
import type { Sources } from '../snapshots/sources.ts';
import { unlessAborted } from '../unless-aborted.ts';

/*
 * POST /sync/batch: reads records by key or by group, for models that a client loads when it needs them. One snapshot
 * serves all requests of a call and one statement all requests for a model, so a record is sent once, however many requests
 * it matches. The visibility predicate is that of bootstrap.
 *
 * Keeps sync.batch.requests, sync.batch.bounds, sync.batch.own-groups and sync.batch.first-sync-id.
 */

export interface KeyedReadRequest {
  readonly userId: string;
  readonly workspaceId: string | null;
  readonly wanted: ReadonlyMap<Model, Wanted>;
  /** The answer must show at least this position. Records before it are sent too. */
  readonly reached: bigint;
}

/** Values by column; a record matches when it has one of them. */
type Wanted = Map<string, Set<string>>;

export function parseKeyedRead(
  principal: Principal,
  { requests, firstSyncId }: { readonly requests: readonly BatchRequest[]; readonly firstSyncId?: string },
): KeyedReadRequest {
  const reached = parseSyncId(firstSyncId ?? '0');
  if (reached === null) throw refused('body/firstSyncId is larger than any position in the log');
  const wanted = new Map<Model, Wanted>();
  for (const [index, request] of requests.entries()) {
    const model = findModel(request.modelName);
    if (model === undefined) throw refused(`body/requests/${index}/modelName: ${unknownModel(request.modelName)}`);
    const { column, value } = readKey(model, request, index);
    const columns = wanted.getOrInsertComputed(model, () => new Map());
    // Every key is an id, so a value that is no UUID matches nothing.
    if (isUuid(value)) columns.getOrInsertComputed(column, () => new Set()).add(value.toLowerCase());
  }
  return { userId: principal.userId, workspaceId: principal.workspaceId ?? null, wanted, reached };
}

function readKey(model: Model, request: BatchRequest, index: number): { column: string; value: string } {
  if ('groupId' in request) {
    if ('indexedKey' in request)
      throw refused(`body/requests/${index} must have either indexedKey and keyValue, or groupId`);
    return { column: 'group_id', value: request.groupId };
  }
  const keys = indexedKeysOf(model);
  if (!keys.includes(request.indexedKey))
    throw refused(`body/requests/${index}/indexedKey of ${model.name} must be one of ${keys.join(', ')}`);
  return { column: snakeCase(request.indexedKey), value: request.keyValue };
}

function refused(message: string): Fault {
  return new Fault('validation_failed', { message });
}

export interface KeyedReadOptions extends SnapshotTools {
  readonly sources: Sources;
}

export interface KeyedReadAnswer extends Disposable {
  readonly snapshot: SpooledSnapshot;
  readonly reader: SnapshotReader;
}

export class KeyedReads {
  readonly #options: KeyedReadOptions;

  constructor(options: KeyedReadOptions) {
    this.#options = options;
  }

  /** Starts an answer. The caller must dispose of it, because it counts against its person and holds a spool. */
  async answer(request: KeyedReadRequest, encoding: Encoding, signal: AbortSignal): Promise<KeyedReadAnswer> {
    const admission = this.#options.budget.admit(request.userId);
    if (admission === undefined) throw tooManySnapshots(this.#options.metrics);
    const snapshot = this.#open(request, encoding);
    const reader = snapshot.join(request.userId);
    const end = (): void => {
      admission[Symbol.dispose]();
      snapshot.leave(reader);
    };
    try {
      await unlessAborted(snapshot.opened, signal);
      return { snapshot, reader, [Symbol.dispose]: end };
    } catch (error) {
      end();
      throw error;
    }
  }

  #open(request: KeyedReadRequest, encoding: Encoding): SpooledSnapshot {
    const { sources } = this.#options;
    const { userId, workspaceId, reached } = request;
    return new SpooledSnapshot(
      {
        userId,
        workspaceId,
        encoding,
        pool: async (signal) => {
          if (!sources.hasStandby) return sources.primary;
          return sources.pick({ userId, reached, person: await sources.groupsOf(request, signal) }, signal);
        },
        select: (person) => {
          if (person.at < reached)
            throw new Fault('unavailable', { message: 'The log has not reached firstSyncId yet; try again shortly' });
          return selectionsOf(request, person);
        },
      },
      this.#options,
    );
  }
}

function selectionsOf({ wanted, userId, workspaceId }: KeyedReadRequest, person: PersonGroups): Selection[] {
  const viewer: Viewer = { groups: [...person.groups], person: { userId, workspaceId } };
  return MODELS.flatMap((model) => {
    const columns = wanted.get(model);
    if (columns === undefined || columns.size === 0) return [];
    const matches = [...columns].map(([column, values]) => matchSql(model, column, values, viewer));
    return visibleSelections(model, viewer).map((selection) => ({
      ...selection,
      where: `${selection.where} and (${matches.join(' or ')})`,
    }));
  });
}

/** A request by group matches the records that this group sees; for most models those with its `group_id`. */
function matchSql(model: Model, column: string, values: ReadonlySet<string>, { groups, person }: Viewer): string {
  if (column !== 'group_id') return `${column} in (${uuidList(values)})`;
  const requested = groups.filter((group) => values.has(group));
  return visibleSql(model, { groups: requested, person: person !== null && values.has(person.userId) ? person : null });
}
