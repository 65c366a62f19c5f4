import { idsIn, MODELS, User, type Model } from '@wts/models';
import type { FactLookup, Lookup, Relation } from '../decision/lookup.ts';
import { TOO_MANY_RECORDS, TOO_MUCH_TEXT } from '../decision/refusal.ts';
import type { CounterLock } from '../store/counters.ts';
import { windowOf } from '../decision/list-window.ts';
import { factStatements, type LookupStatement } from './run-fact-lookups.ts';
import { LIST_WINDOW, type Ranked } from '../store/list-windows.ts';
import {
  UNLOCKED_RELATED_MAX,
  RELATED_MAX,
  rowOf,
  selectRelated,
  selectRows,
  selectVisibleRows,
  type HoldStrength,
  type LockStrength,
  type RelatedRow,
  type Row,
  type StoredRow,
} from '../store/rows.ts';

type LockedRelation = Relation & { readonly lock: LockStrength };

/** For whom is read: all people who call in a batch, or a service, which may read everything. */
export type Callers = readonly string[] | 'service';

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
  const isFact = (lookup: Lookup): lookup is FactLookup =>
    lookup.kind !== 'row' && lookup.kind !== 'related' && lookup.kind !== 'list-window';
  const facts = lookups.filter(isFact);
  const isUnlocked = (lookup: Lookup): boolean => 'lock' in lookup && lookup.lock === 'look';
  return [
    ...rowsAndRelated(
      lookups.filter((lookup) => !isUnlocked(lookup)),
      callers,
    ),
    // Counters after the rows, so that a batch waits as late as possible for a batch that holds the same counter.
    ...factStatements(
      facts.filter(({ kind }) => kind === 'counter'),
      counterLock,
    ),
    ...rowsAndRelated(lookups.filter(isUnlocked), callers),
    ...factStatements(
      facts.filter(({ kind }) => kind !== 'counter'),
      counterLock,
    ),
    ...listWindows(lookups),
  ];
}

function rowsAndRelated(lookups: readonly Lookup[], callers: Callers): LookupStatement[] {
  return MODELS.flatMap((model) => {
    const related = lookups.filter(
      (lookup) => lookup.kind === 'related' && lookup.model === model,
    ) as readonly LockedRelation[];
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
    byLock.getOrInsertComputed(strength, () => new Set()).add(id);
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

/** Relations that differ in their value only. */
function relatedStatement(relations: readonly LockedRelation[]): LookupStatement {
  const { model, field, and, lock } = relations[0] as LockedRelation;
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
