import { idsIn, modelNamed, MODELS, User, type Model } from '@wts/models';
import { key, type Lookup, type Relation, type UniqueKey } from './lookup.ts';
import type { ReadSet } from './read-set.ts';
import { TOO_MANY_RECORDS, TOO_MUCH_TEXT } from './refusal.ts';
import { AUDIENCES } from '../store/audiences.ts';
import { SELECT_COUNTERS, type CounterLock } from '../store/counters.ts';
import { windowOf } from './list-window.ts';
import { factStatements } from './run-fact-lookups.ts';
import { LIST_WINDOW, type Ranked } from '../store/list-windows.ts';
import { CREATIONS } from '../store/log.ts';
import type { Statement } from '../store/prepared.ts';
import {
  UNLOCKED_RELATED_MAX,
  RELATED_MAX,
  rowOf,
  selectIdHolders,
  selectKeys,
  selectRelated,
  selectRows,
  selectVisibleRows,
  type HoldStrength,
  type LockStrength,
  type RelatedRow,
  type Row,
  type StoredRow,
} from '../store/rows.ts';
import { USED_GROUPS } from '../store/used-groups.ts';

/** For whom is read: all people who call in a batch, or a service, which may read everything. */
export type Callers = readonly string[] | 'service';

/** A statement, and how its rows get into the read set. */
interface LookupStatement {
  readonly statement: Statement;
  store(rows: readonly unknown[], reads: ReadSet): void;
}

/**
 * All lookups of a round, as statements of one message. Rows are locked model by model in the order of the registry, and by id
 * within a model. So two batches that lock the same rows wait at the first one, and there is no deadlock. What needs no lock is
 * read last, after all waits for locks, so that it is not older than the locked rows.
 */
export function lookupStatements(
  lookups: readonly Lookup[],
  counterLock: CounterLock,
  callers: Callers,
): LookupStatement[] {
  const isUnlocked = (lookup: Lookup): boolean => 'lock' in lookup && lookup.lock === 'look';
  return [
    ...rowsAndRelated(
      lookups.filter((lookup) => !isUnlocked(lookup)),
      callers,
    ),
    // Counters after the rows, so that a batch waits as late as possible for a batch that holds the same counter.
    ...counters(lookups, counterLock),
    ...rowsAndRelated(lookups.filter(isUnlocked), callers),
    ...idHolders(lookups),
    ...usedGroups(lookups),
    ...audiences(lookups),
    ...keys(lookups),
    ...creations(lookups),
    ...factStatements(lookups),
    ...listWindows(lookups),
  ];
}

function rowsAndRelated(lookups: readonly Lookup[], callers: Callers): LookupStatement[] {
  return MODELS.flatMap((model) => {
    const related = lookups.filter(
      (lookup) => lookup.kind === 'related' && lookup.model === model,
    ) as readonly (Relation & {
      lock: LockStrength;
    })[];
    const alike = Map.groupBy(related, ({ lock, field, and }) => `${lock} ${field} ${and?.field} ${and?.value}`);
    const sets = [...alike.values()];
    // Related rows before single rows: a single row is often one of the related rows, and two batches that lock these wait at the
    // first one. Children of records of the same model are read again after their parents are locked, because another
    // transaction may have added a child before that.
    return [
      ...sets.map(relatedStatement),
      ...(model === User ? people(lookups) : []),
      ...[...rowsByLock(lookups, model)].map(([lock, ids]) => rowStatement(model, ids, lock, callers)),
      ...sets.filter(([one]) => one && model.fields[one.field]?.reference?.model === model.name).map(relatedStatement),
    ];
  });
}

/**
 * One statement locks the rows to write and the rows to refer to, all for writing. With two statements, a batch that writes A and
 * refers to B and a batch that writes B and refers to A would wait for each other (a deadlock).
 */
function rowsByLock(lookups: readonly Lookup[], model: Model): Map<HoldStrength, Set<string>> {
  const byLock = new Map<HoldStrength, Set<string>>();
  const rows = lookups.filter((lookup) => lookup.kind === 'row' && lookup.model === model) as (Lookup & {
    kind: 'row';
  })[];
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
 * A person is locked before their audiences are read, also for a caller who may not see the person: removing a member freezes
 * what the workspace sees of them, and shows nothing of it to the caller.
 */
function people(lookups: readonly Lookup[]): LookupStatement[] {
  const ids = new Set(lookups.flatMap((lookup) => (lookup.kind === 'audience' ? [lookup.userId] : [])));
  return ids.size === 0 ? [] : [rowStatement(User, ids, 'write', 'service')];
}

function rowStatement(model: Model, ids: ReadonlySet<string>, lock: HoldStrength, callers: Callers): LookupStatement {
  return {
    statement:
      callers === 'service'
        ? selectRows(model, lock).with([...ids])
        : selectVisibleRows(model, lock).with([...ids], callers),
    store(rows, reads) {
      const found = new Map((rows as StoredRow[]).map((stored) => [stored.id, rowOf(model, stored)]));
      for (const id of ids) reads.addRow(model, id, found.get(id) ?? null, lock);
    },
  };
}

function listWindows(lookups: readonly Lookup[]): LookupStatement[] {
  return lookups.flatMap((lookup): LookupStatement[] => {
    if (lookup.kind !== 'list-window') return [];
    const { list, at } = lookup;
    const { model, workspaceId, parentId, userId } = list;
    const values = [workspaceId, at.rank, at.id, userId];
    return [
      {
        statement:
          parentId === null
            ? LIST_WINDOW(model, '').with(...values)
            : LIST_WINDOW(model, 'parent').with(...values, parentId),
        store: (rows, reads) => reads.addListWindow(list, windowOf(rows as Ranked[], at)),
      },
    ];
  });
}

function idHolders(lookups: readonly Lookup[]): LookupStatement[] {
  const wanted = lookups.filter((lookup) => lookup.kind === 'id-holder');
  return [...Map.groupBy(wanted, ({ model }) => model)].map(([model, ofModel]) => ({
    statement: selectIdHolders(model).with(ofModel.map(({ id }) => id)),
    store(rows, reads) {
      const found = new Map((rows as { id: string; swept: boolean }[]).map(({ id, swept }) => [id, swept]));
      for (const { id } of ofModel) {
        const swept = found.get(id);
        reads.addIdHolder(model, id, swept === undefined ? 'nothing' : swept ? 'sweep' : 'record');
      }
    },
  }));
}

function usedGroups(lookups: readonly Lookup[]): LookupStatement[] {
  const ids = new Set(lookups.flatMap((lookup) => (lookup.kind === 'used-group' ? [lookup.id] : [])));
  if (ids.size === 0) return [];
  return [
    {
      statement: USED_GROUPS.with([...ids]),
      store(rows, reads) {
        const found = new Set((rows as { id: string }[]).map(({ id }) => id));
        for (const id of ids) reads.addUsedGroup(id, found.has(id));
      },
    },
  ];
}

/** Relations that differ in their value only. */
function relatedStatement(relations: readonly (Relation & { lock: LockStrength })[]): LookupStatement {
  const { model, field, and, lock } = relations[0] as Relation & { lock: LockStrength };
  const values = new Set(relations.map(({ value }) => value));
  return {
    statement: selectRelated(model, field, and?.field ?? '', lock).with([...values], ...(and ? [and.value] : [])),
    store(stored, reads) {
      const relation = (value: string): Relation => ({ model, field, value, ...(and && { and }) });
      const exceed = (reason: string): void => values.forEach((value) => reads.addExcess(relation(value), reason));
      if (lock !== 'look' && stored.length > RELATED_MAX) return exceed(TOO_MANY_RECORDS);
      const byValue = new Map([...values].map((value): [string, Row[]] => [value, []]));
      for (const one of stored as RelatedRow[]) {
        const { record } = one;
        if (record === null) return exceed(TOO_MUCH_TEXT);
        const row = rowOf(model, { ...one, record });
        for (const value of idsIn(row.record, field)) byValue.get(value)?.push(row);
      }
      for (const [value, rows] of byValue) {
        if (rows.length > (lock === 'look' ? UNLOCKED_RELATED_MAX : RELATED_MAX))
          reads.addExcess(relation(value), TOO_MANY_RECORDS);
        else reads.addRelated(relation(value), rows, lock);
      }
    },
  };
}

function keys(lookups: readonly Lookup[]): LookupStatement[] {
  const wanted: readonly UniqueKey[] = lookups.filter((lookup) => lookup.kind === 'key');
  const alike = Map.groupBy(wanted, ({ model, fields }) => `${model.name} ${fields.join(' ')}`);
  return [...alike.values()].map((unique) => {
    const { model, fields } = unique[0] as UniqueKey;
    const columns = fields.map((_, index) => unique.map(({ values }) => values[index] as string));
    return {
      statement: selectKeys(model, fields.join(' ')).with(...columns),
      store(rows, reads) {
        const holders = new Map((rows as { place: number; id: string }[]).map(({ place, id }) => [place - 1, id]));
        for (const [place, one] of unique.entries()) reads.addKeyHolder(one, holders.get(place) ?? null);
      },
    };
  });
}

/**
 * Numbers are dense, so batches that number tasks of one workspace follow each other. `hold` locks the counter from here on.
 * `look` does not: the transaction checks the counter when it writes it, and until then the batches may overlap. Keeps
 * sync.mutate.task-number.
 */
function counters(lookups: readonly Lookup[], lock: CounterLock): LookupStatement[] {
  const ids = new Set(lookups.flatMap((lookup) => (lookup.kind === 'counter' ? [lookup.workspaceId] : [])));
  if (ids.size === 0) return [];
  return [
    {
      statement: SELECT_COUNTERS(lock).with([...ids]),
      store(rows, reads) {
        const found = new Map(
          (rows as { workspace_id: string; last_number: number }[]).map((row) => [row.workspace_id, row.last_number]),
        );
        for (const id of ids) reads.addCounter(id, found.get(id) ?? null);
      },
    },
  ];
}

function audiences(lookups: readonly Lookup[]): LookupStatement[] {
  const ids = new Set(lookups.flatMap((lookup) => (lookup.kind === 'audience' ? [lookup.userId] : [])));
  if (ids.size === 0) return [];
  return [
    {
      statement: AUDIENCES.with([...ids]),
      store(rows, reads) {
        const found = Map.groupBy(
          rows as { user_id: string; group_id: string; frozen: boolean }[],
          (row) => row.user_id,
        );
        for (const id of ids) {
          const [live, frozen] = [false, true].map((isFrozen) =>
            (found.get(id) ?? []).filter((row) => row.frozen === isFrozen).map((row) => row.group_id),
          );
          reads.addAudiences(id, live ?? [], frozen ?? []);
        }
      },
    },
  ];
}

function creations(lookups: readonly Lookup[]): LookupStatement[] {
  const wanted = lookups.filter((lookup) => lookup.kind === 'creation');
  if (wanted.length === 0) return [];
  return [
    {
      statement: CREATIONS.with([...new Set(wanted.map(({ id }) => id))]),
      store(rows, reads) {
        const found = new Map(
          (rows as { model: string; model_id: string; client_id: string; actor_id: string; sync_id: string }[]).map(
            (row) => [key(modelNamed(row.model), row.model_id), row],
          ),
        );
        for (const { model, id } of wanted) {
          const row = found.get(key(model, id));
          reads.addCreation(
            model,
            id,
            row ? { clientId: row.client_id, actorId: row.actor_id, entry: BigInt(row.sync_id) } : null,
          );
        }
      },
    },
  ];
}
