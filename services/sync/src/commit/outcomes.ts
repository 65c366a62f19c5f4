import type { StoredEntry, ModelRecord } from '@wts/contracts';
import type { LogReader } from '@wts/log';
import type { Semaphore } from '@wts/service-kit/call';
import type { Pool } from 'pg';
import { findReplays } from '../store/idempotency-keys.ts';
import { idempotencyKeyOf, type Effect, type Mutation, type Unit, type UnitOutcome } from '../decision/unit.ts';
import type { UnitResult } from './write.ts';

interface Reader {
  readonly pool: Pool;
  readonly log: LogReader;
  /** Limits how many connections are used for reading, because commits need the others. */
  readonly gate: Semaphore;
}

/** The outcomes of units whose results are complete; null when one of them needs the log. */
export function outcomesOf(units: readonly Unit[], results: readonly UnitResult[]): UnitOutcome[] | null {
  const isComplete = (one: UnitResult): boolean => one.kind !== 'refused' && positionsIn(one).length === 0;
  return results.every(isComplete) ? toOutcomes(units, results, NO_ENTRIES) : null;
}

/** Reads the entries of replays from the log: a replay has the outcome of the first time. */
export async function readOutcomes(
  units: readonly Unit[],
  decided: readonly UnitResult[],
  reader: Reader,
): Promise<{ readonly outcomes: UnitOutcome[]; readonly textRead: number[] }> {
  const results = await withLateReplays(units, decided, reader);
  const positions = results.flatMap(positionsIn);
  const logged = positions.length > 0 ? await reader.gate.run(() => reader.log.at(positions)) : NO_ENTRIES;
  const textAt = (position: bigint): number => textLengthOf(logged.get(position)?.record);
  return {
    outcomes: toOutcomes(units, results, logged),
    textRead: results.map((result) => positionsIn(result).reduce((sum, position) => sum + textAt(position), 0)),
  };
}

type Committed = Pick<Extract<UnitResult, { readonly kind: 'applied' }>, 'lastId' | 'mains'>;

/** What a unit has in the log. */
function committedOf(result: UnitResult): Committed {
  if (result.kind === 'applied') return result;
  if (result.kind !== 'replayed') return { lastId: 0n, mains: [] };
  const { lastId, mainIds } = result.replay;
  return { lastId, mains: mainIds.map((syncId) => ({ syncId, effect: null })) };
}

/** The positions of entries that the outcome of a unit needs. */
function positionsIn(result: UnitResult): readonly bigint[] {
  return committedOf(result).mains.flatMap(({ effect, syncId }) => (effect ? [] : [syncId]));
}

export function textLengthOf(record: ModelRecord | undefined): number {
  let length = 0;
  for (const name in record) {
    const value = record[name];
    if (typeof value === 'string') length += value.length;
  }
  return length;
}

function toOutcomes(
  units: readonly Unit[],
  results: readonly UnitResult[],
  logged: ReadonlyMap<bigint, StoredEntry>,
): UnitOutcome[] {
  return results.map((result, index): UnitOutcome => {
    if (result.kind === 'refused') return result.refusal;
    const mutations = units[index]?.mutations ?? [];
    const { lastId, mains } = committedOf(result);
    return {
      ok: true,
      lastId,
      replayed: mains.every(({ effect }) => effect === null),
      mutations: mutations.map((mutation, position) => {
        const { syncId, effect } = mains[position] ?? { syncId: 0n, effect: null };
        // As it is stored, so that a client that keys by it has one record.
        const modelId = mutation.modelId.toLowerCase();
        const entry = effect ?? entryOf(mutation, logged.get(syncId));
        return { ...mutation, modelId, syncId, record: visibleRecord(units[index], entry) ?? { id: modelId } };
      }),
    };
  });
}

const NO_ENTRIES: ReadonlyMap<bigint, StoredEntry> = new Map();

/**
 * A unit that was sent again may be refused because its first sending was committed while it waited for a lock or an index. Then
 * it gets the outcome of the first one. Keeps sync.mutate.idempotent, never.applied-twice.
 */
async function withLateReplays(
  units: readonly Unit[],
  results: readonly UnitResult[],
  { pool, gate }: Reader,
): Promise<readonly UnitResult[]> {
  const refused = units.filter((_, index) => results[index]?.kind === 'refused');
  if (refused.length === 0) return results;
  const replays = await gate.run(() => findReplays(pool, units.map(idempotencyKeyOf)));
  return results.map((result, index): UnitResult => {
    const replay = replays[index];
    return result.kind === 'refused' && replay ? { kind: 'replayed', replay, weight: result.weight } : result;
  });
}

/** The entry, unless it is of another record: the one at the floor, where the last entry of the record was trimmed. */
function entryOf({ modelName, modelId }: Mutation, entry: StoredEntry | undefined): StoredEntry | undefined {
  return entry?.modelId === modelId.toLowerCase() && entry.modelName === modelName ? entry : undefined;
}

/** A credential for one workspace may repeat what its person did in another one, and does not get that record. */
function visibleRecord(unit: Unit | undefined, entry: Effect | StoredEntry | undefined): ModelRecord | undefined {
  const only = unit?.principal.workspaceId;
  return only === undefined || entry?.workspaceId === only ? entry?.record : undefined;
}
