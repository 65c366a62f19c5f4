import { dependentsOf, type Model } from '@wts/models';
import type { FactLookup, Facts, Lookup } from './lookup.ts';
import type { ReadSet } from './read-set.ts';
import { CALENDARS } from '../store/calendars.ts';
import { DEPTHS, EXTENTS } from '../store/extents.ts';
import { LAST_ENTRIES } from '../store/log.ts';
import type { Statement } from '../store/prepared.ts';
import { LEAVING } from '../store/sweeps.ts';
import { SYNC_LIMITS } from '../limits.ts';

type Of<K extends FactLookup['kind']> = Extract<FactLookup, { kind: K }>;

interface FactStatement {
  readonly statement: Statement;
  store(rows: readonly unknown[], reads: ReadSet): void;
}

/** Statements for facts, one for all lookups that differ in their ids only. */
export function factStatements(lookups: readonly Lookup[]): FactStatement[] {
  const of = <K extends FactLookup['kind']>(kind: K): Of<K>[] =>
    lookups.filter((lookup): lookup is Of<K> & Lookup => lookup.kind === kind);
  return [
    ...extents(of('extent')),
    ...lastEntries(of('last')),
    ...depths(of('depth')),
    ...leaving(of('leaving')),
    ...calendars(of('calendar')),
  ];
}

const idsOf = (lookups: readonly { readonly id: string }[]): string[] => [...new Set(lookups.map(({ id }) => id))];

function extents(lookups: readonly Of<'extent'>[]): FactStatement[] {
  const alike = Map.groupBy(lookups, ({ model, scope }) => `${model.name} ${scope}`);
  return [...alike.values()].map((same) => {
    const { model, scope, recordsMax } = same[0] as Of<'extent'>;
    return {
      statement: EXTENTS(model, scope).with(idsOf(same), String(recordsMax)),
      store(rows, reads) {
        const found = new Map(
          (rows as { id: string; records: string; bytes: string; levels: string }[]).map((row) => [
            row.id,
            { records: Number(row.records), bytes: Number(row.bytes), levels: Number(row.levels) },
          ]),
        );
        for (const lookup of same) reads.addFact(lookup, found.get(lookup.id) ?? { records: 1, bytes: 0, levels: 0 });
      },
    };
  });
}

function lastEntries(lookups: readonly Of<'last'>[]): FactStatement[] {
  return [...Map.groupBy(lookups, ({ model }) => model)].map(([model, same]) => ({
    statement: LAST_ENTRIES.with(idsOf(same), model.name),
    store: storeById(same, { column: 'last', parse: BigInt, none: 0n }),
  }));
}

function depths(lookups: readonly Of<'depth'>[]): FactStatement[] {
  return [...Map.groupBy(lookups, ({ model }) => model)].map(([model, same]) => ({
    statement: DEPTHS(model, chainField(model)).with(idsOf(same), String(SYNC_LIMITS.commentDepthMax)),
    store: storeById(same, { column: 'depth', parse: Number, none: 0 }),
  }));
}

/** The field that refers to a record of the same model, which the record is deleted with. */
function chainField(model: Model): string {
  const chain = dependentsOf(model).find((one) => one.model === model && one.onDelete === 'delete');
  if (!chain) throw new Error(`No ${model.name} is below another one`);
  return chain.field;
}

function storeById<T extends Facts[keyof Facts]>(
  lookups: readonly (FactLookup & { readonly id: string })[],
  { column, parse, none }: { readonly column: string; readonly parse: (text: string) => T; readonly none: T },
): FactStatement['store'] {
  return (rows, reads) => {
    const found = new Map((rows as Record<string, string>[]).map((row) => [row['id'], row[column]]));
    for (const lookup of lookups) {
      const text = found.get(lookup.id);
      reads.addFact(lookup, text === undefined ? none : parse(text));
    }
  };
}

function leaving(lookups: readonly Of<'leaving'>[]): FactStatement[] {
  if (lookups.length === 0) return [];
  return [
    {
      statement: LEAVING.with(
        lookups.map(({ workspaceId }) => workspaceId),
        lookups.map(({ userId }) => userId),
      ),
      store(rows, reads) {
        const found = new Set(
          (rows as { workspace_id: string; user_id: string }[]).map((row) => `${row.workspace_id} ${row.user_id}`),
        );
        for (const lookup of lookups) reads.addFact(lookup, found.has(`${lookup.workspaceId} ${lookup.userId}`));
      },
    },
  ];
}

function calendars(lookups: readonly Of<'calendar'>[]): FactStatement[] {
  if (lookups.length === 0) return [];
  const ids = [...new Set(lookups.map(({ workspaceId }) => workspaceId))];
  return [
    {
      statement: CALENDARS.with(ids),
      store(rows, reads) {
        for (const { id, now, zone } of rows as { id: string; now: string; zone: string | null }[])
          reads.addFact({ kind: 'calendar', workspaceId: id }, { now, timeZone: zone ?? 'UTC' });
      },
    },
  ];
}
