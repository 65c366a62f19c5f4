import type { StoredEntry, ModelRecord } from '@wts/contracts';
import type { LogReader } from '@wts/log';
import type { Semaphore } from '@wts/service-kit/call';
import type { Pool } from 'pg';
import { findReplays } from '../store/replays.ts';
import { sentAs, type Effect, type Mutation, type Unit, type UnitOutcome } from './unit.ts';
import type { UnitResult } from './write.ts';

interface Reader {
  readonly pool: Pool;
  readonly log: LogReader;
  /** Bounds the connections that answers take from those that commit. */
  readonly gate: Semaphore;
}

/** The answers to units that need nothing but their outcomes; null when one of them has to be looked up. */
export function answersAtOnce(units: readonly Unit[], outcomes: readonly UnitResult[]): UnitOutcome[] | null {
  const isKnown = (one: UnitResult): boolean => one.kind !== 'refused' && placesIn(one).length === 0;
  return outcomes.every(isKnown) ? answers(units, outcomes, NONE) : null;
}

/** Replays are answered from the log: the same answer as the first time. A unit that waits for a later batch has none. */
export async function answersOf(
  units: readonly Unit[],
  decided: readonly UnitResult[],
  reader: Reader,
): Promise<{ readonly answers: UnitOutcome[]; readonly textRead: number[] }> {
  const outcomes = await withLateReplays(units, decided, reader);
  const places = outcomes.flatMap(placesIn);
  const logged = places.length > 0 ? await reader.gate.run(() => reader.log.at(places)) : NONE;
  const textAt = (place: bigint): number => lengthOf(logged.get(place)?.record);
  return {
    answers: answers(units, outcomes, logged),
    textRead: outcomes.map((outcome) => placesIn(outcome).reduce((sum, place) => sum + textAt(place), 0)),
  };
}

/** Where in the log the answer to a unit is. */
function placesIn(outcome: UnitResult): readonly bigint[] {
  if (outcome.kind === 'replayed') return outcome.replay.mainIds;
  return outcome.kind === 'applied' ? outcome.mains.flatMap(({ effect, syncId }) => (effect ? [] : [syncId])) : [];
}

function lengthOf(record: StoredEntry['record'] | undefined): number {
  return Object.values(record ?? {}).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : 0),
    0,
  );
}

function answers(
  units: readonly Unit[],
  outcomes: readonly UnitResult[],
  logged: ReadonlyMap<bigint, StoredEntry>,
): UnitOutcome[] {
  return outcomes.map((outcome, index): UnitOutcome => {
    if (outcome.kind === 'refused') return outcome.refusal;
    const mutations = units[index]?.mutations ?? [];
    const known =
      outcome.kind === 'applied'
        ? outcome.mains
        : outcome.kind === 'replayed'
          ? outcome.replay.mainIds.map((syncId) => ({ syncId, effect: null }))
          : [];
    return {
      ok: true,
      lastId: outcome.kind === 'applied' ? outcome.lastId : outcome.kind === 'replayed' ? outcome.replay.lastId : 0n,
      replayed: outcome.kind === 'replayed' || known.every(({ effect }) => effect === null),
      mutations: mutations.map((mutation, position) => {
        const { syncId, effect } = known[position] ?? { syncId: 0n, effect: null };
        return {
          ...mutation,
          syncId,
          record: shown(units[index], effect ?? ofRecord(mutation, logged.get(syncId))) ?? { id: mutation.modelId },
        };
      }),
    };
  });
}

const NONE: ReadonlyMap<bigint, StoredEntry> = new Map();

/**
 * A unit that is sent again because its answer got lost may meet its first sending, committed while this one waited for
 * a lock or an index: the refusal is then about its own work, and the first answer stands.
 * Keeps sync.mutate.idempotent, never.applied-twice.
 */
async function withLateReplays(
  units: readonly Unit[],
  outcomes: readonly UnitResult[],
  { pool, gate }: Reader,
): Promise<readonly UnitResult[]> {
  const refused = units.filter((_, index) => outcomes[index]?.kind === 'refused');
  if (refused.length === 0) return outcomes;
  const replays = await gate.run(() => findReplays(pool, units.map(sentAs)));
  return outcomes.map((outcome, index): UnitResult => {
    const replay = replays[index];
    return outcome.kind === 'refused' && replay ? { kind: 'replayed', replay, weight: outcome.weight } : outcome;
  });
}

/** Where the last entry of a record was trimmed, another one stands at the place that answers for it. */
function ofRecord({ modelName, modelId }: Mutation, entry: StoredEntry | undefined): StoredEntry | undefined {
  return entry?.modelId === modelId.toLowerCase() && entry.modelName === modelName ? entry : undefined;
}

/** A credential for one workspace may repeat what its person did elsewhere; it is not told what that was. */
function shown(unit: Unit | undefined, entry: Effect | StoredEntry | undefined): ModelRecord | undefined {
  const only = unit?.principal.workspaceId;
  return only === undefined || entry?.workspaceId === only ? entry?.record : undefined;
}
