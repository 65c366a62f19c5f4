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
  Production,
  tooManySnapshots,
  type Encoding,
  type ProductionReader,
  type ProductionTools,
} from '../snapshots/production.ts';
import type { Sources } from '../snapshots/sources.ts';
import { unlessAborted } from '../unless-aborted.ts';

/*
 * Records asked for by key or by group, as they are now: for models a client loads when it needs them. All requests of a
 * call are read in one snapshot, and all requests for a model in one statement, so a record comes once however many of
 * them it matches. Who may see what is the predicate of bootstrap.
 *
 * Keeps sync.batch.requests, sync.batch.bounds, sync.batch.own-groups and sync.batch.first-sync-id.
 */

export interface BatchQuestion {
  readonly userId: string;
  readonly workspaceId: string | null;
  readonly wanted: ReadonlyMap<Model, Wanted>;
  /** The place the answer must have reached. It is never a reason to leave a record out. */
  readonly reached: bigint;
}

/** Values by column; a record matches when it has one of them. */
type Wanted = Map<string, Set<string>>;

export function readBatch(
  principal: Principal,
  { requests, firstSyncId }: { readonly requests: readonly BatchRequest[]; readonly firstSyncId?: string },
): BatchQuestion {
  const reached = parseSyncId(firstSyncId ?? '0');
  if (reached === null) throw refused('body/firstSyncId is larger than any position in the log');
  const wanted = new Map<Model, Wanted>();
  for (const [index, request] of requests.entries()) {
    const model = findModel(request.modelName);
    if (model === undefined) throw refused(`body/requests/${index}/modelName: ${unknownModel(request.modelName)}`);
    const { column, value } = readKey(model, request, index);
    const columns = wanted.get(model) ?? new Map<string, Set<string>>();
    wanted.set(model, columns);
    // Every key is an id; what is none belongs to no record.
    if (isUuid(value)) columns.set(column, (columns.get(column) ?? new Set()).add(value.toLowerCase()));
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
  if (!keys.includes(request.indexedKey)) {
    throw refused(`body/requests/${index}/indexedKey of ${model.name} must be one of ${keys.join(', ')}`);
  }
  return { column: snakeCase(request.indexedKey), value: request.keyValue };
}

function refused(message: string): Fault {
  return new Fault('validation_failed', { message });
}

export interface BatchOptions extends ProductionTools {
  readonly sources: Sources;
}

export interface BatchAnswer extends Disposable {
  readonly production: Production;
  readonly reader: ProductionReader;
}

export class Batches {
  readonly #options: BatchOptions;

  constructor(options: BatchOptions) {
    this.#options = options;
  }

  /** Begins an answer. It must be disposed of: it counts, and holds what it is sent from. Given up when the client leaves. */
  async answer(question: BatchQuestion, encoding: Encoding, signal: AbortSignal): Promise<BatchAnswer> {
    const place = this.#options.room.enter(question.userId);
    if (place === undefined) throw tooManySnapshots(this.#options.metrics);
    const production = this.#produce(question, encoding);
    const reader = production.join(question.userId);
    const end = (): void => {
      place[Symbol.dispose]();
      production.leave(reader);
    };
    try {
      await unlessAborted(production.opened, signal);
      return { production, reader, [Symbol.dispose]: end };
    } catch (error) {
      end();
      throw error;
    }
  }

  #produce(question: BatchQuestion, encoding: Encoding): Production {
    const { sources } = this.#options;
    const { userId, workspaceId, reached } = question;
    return new Production(
      {
        userId,
        workspaceId,
        encoding,
        pool: async (signal) => {
          if (!sources.hasStandby) return sources.primary;
          return sources.pick({ userId, reached, person: await sources.groupsOf(question, signal) }, signal);
        },
        select: (person) => {
          if (person.at < reached)
            throw new Fault('unavailable', { message: 'The log has not reached firstSyncId yet; try again shortly' });
          return selectionsOf(question, person);
        },
      },
      this.#options,
    );
  }
}

function selectionsOf({ wanted, userId, workspaceId }: BatchQuestion, person: PersonGroups): Selection[] {
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

/** A record belongs to a group when it is sent to that group; for most models that is its `group_id`. */
function matchSql(model: Model, column: string, values: ReadonlySet<string>, { groups, person }: Viewer): string {
  if (column !== 'group_id') return `${column} in (${uuidList(values)})`;
  const seen = groups.filter((group) => values.has(group));
  return visibleSql(model, { groups: seen, person: person !== null && values.has(person.userId) ? person : null });
}
