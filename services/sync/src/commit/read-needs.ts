import { idsIn, modelNamed, MODELS, User, type Model } from '@wts/models';
import { TOO_LARGE, TOO_MANY, type UniqueKey } from './need.ts';
import { key, type Need, type Relation, type World } from './world.ts';
import { AUDIENCES } from '../store/audiences.ts';
import { COUNTERS, type CounterLock } from '../store/counters.ts';
import { factQuestions } from './read-facts.ts';
import { CREATIONS } from '../store/log.ts';
import type { Call } from '../store/prepared.ts';
import {
  LOOKED_AT_MAX,
  RELATED_MAX,
  rowOf,
  selectKeys,
  selectRelated,
  selectRows,
  selectTaken,
  selectTheirRows,
  type HoldStrength,
  type LockStrength,
  type RelatedRow,
  type Row,
  type StoredRow,
} from '../store/rows.ts';
import { USED_GROUPS } from '../store/used-groups.ts';

/** For whom is read: all people who call in a group, or a service, which may read everything. */
export type Askers = readonly string[] | 'service';

/** A statement, and where its rows go in the world. */
interface Question {
  readonly call: Call;
  take(rows: readonly unknown[], world: World): void;
}

/**
 * All that is needed, as statements of one message. Rows are locked model by model in the order of the registry, and by id
 * within a model: two groups that lock the same rows meet at the first one and do not wait in a circle. What is only looked
 * at comes last, when no lock is waited for any more: it then is not older than what is held.
 */
export function questionsOf(needs: readonly Need[], counterLock: CounterLock, askers: Askers): Question[] {
  const isLook = (need: Need): boolean => 'lock' in need && need.lock === 'look';
  return [
    ...rowsAndRelated(
      needs.filter((need) => !isLook(need)),
      askers,
    ),
    // After the rows: until then a group does not wait for the one that numbers tasks before it.
    ...counters(needs, counterLock),
    ...rowsAndRelated(needs.filter(isLook), askers),
    ...taken(needs),
    ...used(needs),
    ...audiences(needs),
    ...keys(needs),
    ...creations(needs),
    ...factQuestions(needs),
  ];
}

function rowsAndRelated(needs: readonly Need[], askers: Askers): Question[] {
  return MODELS.flatMap((model) => {
    const related = needs.filter((need) => need.kind === 'related' && need.model === model) as readonly (Relation & {
      lock: LockStrength;
    })[];
    const alike = Map.groupBy(related, ({ lock, field, and }) => `${lock} ${field} ${and?.field} ${and?.value}`);
    const sets = [...alike.values()];
    // Sets before single rows: a row is often one of a set, and two groups that lock the set meet at its first row. Parts of
    // records of the same model are read once more when those are held: somebody may have added one until then.
    return [
      ...sets.map(relatedQuestion),
      ...(model === User ? people(needs) : []),
      ...[...rowsByLock(needs, model)].map(([lock, ids]) => rowQuestion(model, ids, lock, askers)),
      ...sets.filter(([one]) => one && model.fields[one.field]?.reference?.model === model.name).map(relatedQuestion),
    ];
  });
}

/**
 * Rows to write and rows to refer to are locked by one statement, all for writing: in two statements, one group that
 * writes A and refers to B would wait in a circle with one that writes B and refers to A.
 */
function rowsByLock(needs: readonly Need[], model: Model): Map<HoldStrength, Set<string>> {
  const byLock = new Map<HoldStrength, Set<string>>();
  const rows = needs.filter((need) => need.kind === 'row' && need.model === model) as (Need & { kind: 'row' })[];
  const isWriting = rows.some(({ lock }) => lock === 'write');
  for (const { id, lock } of rows) {
    const strength = lock === 'refer' && isWriting ? 'write' : lock;
    const ids = byLock.get(strength);
    if (ids) ids.add(id);
    else byLock.set(strength, new Set([id]));
  }
  return byLock;
}

/**
 * People whose audience is asked for are held, whoever asks: who removes a member freezes what the workspace knows of them,
 * and is told nothing of it.
 */
function people(needs: readonly Need[]): Question[] {
  const ids = new Set(needs.flatMap((need) => (need.kind === 'audience' ? [need.userId] : [])));
  return ids.size === 0 ? [] : [rowQuestion(User, ids, 'write', 'service')];
}

function rowQuestion(model: Model, ids: ReadonlySet<string>, lock: HoldStrength, askers: Askers): Question {
  return {
    call:
      askers === 'service'
        ? selectRows(model, lock).with([...ids])
        : selectTheirRows(model, lock).with([...ids], askers),
    take(rows, world) {
      const found = new Map((rows as StoredRow[]).map((stored) => [stored.id, rowOf(model, stored)]));
      for (const id of ids) world.keepRow(model, id, found.get(id) ?? null, lock);
    },
  };
}

function taken(needs: readonly Need[]): Question[] {
  const wanted = needs.filter((need) => need.kind === 'taken');
  return [...Map.groupBy(wanted, ({ model }) => model)].map(([model, ofModel]) => ({
    call: selectTaken(model).with(ofModel.map(({ id }) => id)),
    take(rows, world) {
      const found = new Map((rows as { id: string; swept: boolean }[]).map(({ id, swept }) => [id, swept]));
      for (const { id } of ofModel) {
        const swept = found.get(id);
        world.keepTaken(model, id, swept === undefined ? 'nothing' : swept ? 'sweep' : 'record');
      }
    },
  }));
}

function used(needs: readonly Need[]): Question[] {
  const ids = new Set(needs.flatMap((need) => (need.kind === 'used' ? [need.id] : [])));
  if (ids.size === 0) return [];
  return [
    {
      call: USED_GROUPS.with([...ids]),
      take(rows, world) {
        const found = new Set((rows as { id: string }[]).map(({ id }) => id));
        for (const id of ids) world.keepUsed(id, found.has(id));
      },
    },
  ];
}

/** Relations that differ in their value only. */
function relatedQuestion(relations: readonly (Relation & { lock: LockStrength })[]): Question {
  const { model, field, and, lock } = relations[0] as Relation & { lock: LockStrength };
  const values = new Set(relations.map(({ value }) => value));
  return {
    call: selectRelated(model, field, and?.field ?? '', lock).with([...values], ...(and ? [and.value] : [])),
    take(stored, world) {
      const relation = (value: string): Relation => ({ model, field, value, ...(and && { and }) });
      const exceed = (reason: string): void => values.forEach((value) => world.keepExcess(relation(value), reason));
      if (lock !== 'look' && stored.length > RELATED_MAX) return exceed(TOO_MANY);
      const holders = new Map([...values].map((value): [string, Row[]] => [value, []]));
      for (const one of stored as RelatedRow[]) {
        const { record } = one;
        if (record === null) return exceed(TOO_LARGE);
        const row = rowOf(model, { ...one, record });
        for (const value of idsIn(row.record, field)) holders.get(value)?.push(row);
      }
      for (const [value, rows] of holders) {
        if (rows.length > (lock === 'look' ? LOOKED_AT_MAX : RELATED_MAX)) world.keepExcess(relation(value), TOO_MANY);
        else world.keepRelated(relation(value), rows, lock);
      }
    },
  };
}

/** Who has the values of unique keys. */
function keys(needs: readonly Need[]): Question[] {
  const wanted: readonly UniqueKey[] = needs.filter((need) => need.kind === 'key');
  const alike = Map.groupBy(wanted, ({ model, fields }) => `${model.name} ${fields.join(' ')}`);
  return [...alike.values()].map((unique) => {
    const { model, fields } = unique[0] as UniqueKey;
    const columns = fields.map((_, index) => unique.map(({ values }) => values[index] as string));
    return {
      call: selectKeys(model, fields.join(' ')).with(...columns),
      take(rows, world) {
        const holders = new Map((rows as { place: number; id: string }[]).map(({ place, id }) => [place - 1, id]));
        for (const [place, one] of unique.entries()) world.keepKey(one, holders.get(place) ?? null);
      },
    };
  });
}

/**
 * Numbers are dense, so groups that number tasks of a workspace follow each other. `hold`: by the lock of the counter, from
 * here on. `look`: the counter is insisted on when it is written, and until then the groups may overlap. Keeps
 * sync.mutate.task-number.
 */
function counters(needs: readonly Need[], lock: CounterLock): Question[] {
  const ids = new Set(needs.flatMap((need) => (need.kind === 'counter' ? [need.workspaceId] : [])));
  if (ids.size === 0) return [];
  return [
    {
      call: COUNTERS(lock).with([...ids]),
      take(rows, world) {
        const found = new Map(
          (rows as { workspace_id: string; last_number: number }[]).map((row) => [row.workspace_id, row.last_number]),
        );
        for (const id of ids) world.keepCounter(id, found.get(id) ?? null);
      },
    },
  ];
}

function audiences(needs: readonly Need[]): Question[] {
  const ids = new Set(needs.flatMap((need) => (need.kind === 'audience' ? [need.userId] : [])));
  if (ids.size === 0) return [];
  return [
    {
      call: AUDIENCES.with([...ids]),
      take(rows, world) {
        const found = Map.groupBy(
          rows as { user_id: string; group_id: string; frozen: boolean }[],
          (row) => row.user_id,
        );
        for (const id of ids) {
          const [live, frozen] = [false, true].map((isFrozen) =>
            (found.get(id) ?? []).filter((row) => row.frozen === isFrozen).map((row) => row.group_id),
          );
          world.keepAudience(id, live ?? [], frozen ?? []);
        }
      },
    },
  ];
}

function creations(needs: readonly Need[]): Question[] {
  const wanted = needs.filter((need) => need.kind === 'creation');
  if (wanted.length === 0) return [];
  return [
    {
      call: CREATIONS.with([...new Set(wanted.map(({ id }) => id))]),
      take(rows, world) {
        const found = new Map(
          (rows as { model: string; model_id: string; client_id: string; actor_id: string; sync_id: string }[]).map(
            (row) => [key(modelNamed(row.model), row.model_id), row],
          ),
        );
        for (const { model, id } of wanted) {
          const row = found.get(key(model, id));
          world.keepCreation(
            model,
            id,
            row ? { clientId: row.client_id, actorId: row.actor_id, entry: BigInt(row.sync_id) } : null,
          );
        }
      },
    },
  ];
}
