import { dependentsOf, type Model } from '@wts/models';
import { AUDIENCES } from '../store/audiences.ts';
import { CALENDARS, OPEN_TASKS } from '../store/calendars.ts';
import { SELECT_COUNTERS, type CounterLock } from '../store/counters.ts';
import { DEPTHS, EXTENTS } from '../store/extents.ts';
import { CREATIONS, LAST_ENTRIES } from '../store/log.ts';
import type { Statement } from '../store/prepared.ts';
import { selectIdHolders, selectKeys } from '../store/rows.ts';
import { LEAVING } from '../store/sweeps.ts';
import { USED_GROUPS } from '../store/used-groups.ts';
import { factId, factKind, type FactLookup, type Facts } from '../decision/lookup.ts';
import type { ReadSet } from '../decision/read-set.ts';
import { SYNC_LIMITS } from '../limits.ts';

/** A statement, and how its rows get into the read set. */
export interface LookupStatement {
  readonly statement: Statement;
  store(rows: readonly unknown[], reads: ReadSet): void;
}

type Fact = Facts[keyof Facts];

/** The columns that the statements have; which of them, depends on the kind of lookup. */
interface FactRow {
  readonly id: string;
  readonly swept: boolean;
  readonly holder: string;
  readonly last_number: number;
  /** Ids divided by spaces. */
  readonly live: string;
  readonly frozen: string;
  readonly client_id: string;
  readonly actor_id: string;
  readonly sync_id: string;
  readonly records: string;
  readonly bytes: string;
  readonly levels: string;
  readonly last: string;
  readonly depth: string;
  readonly now: string;
  readonly zone: string | null;
  readonly open: number;
}

interface FactQuery {
  readonly statement: Statement;
  readonly factOf: (row: FactRow) => Fact;
  /** Where the statement has no row; without it, it has one for every lookup. */
  readonly otherwise?: Fact;
}

/** Statements for facts, one for all lookups that differ in their ids only. */
export function factStatements(lookups: readonly FactLookup[], counterLock: CounterLock): LookupStatement[] {
  return [...Map.groupBy(lookups, factKind).values()].map((same) => {
    const { statement, factOf, otherwise } = queryOf(same as [FactLookup], counterLock);
    return {
      statement,
      store(rows, reads) {
        const facts = new Map((rows as FactRow[]).map((row) => [row.id, factOf(row)]));
        for (const [index, lookup] of same.entries()) {
          const id = lookup.kind === 'key' ? String(index + 1) : factId(lookup);
          const fact = facts.get(id) ?? otherwise;
          if (fact === undefined) throw new Error(`A lookup of ${lookup.kind} has no row`);
          reads.addFact(lookup, fact);
        }
      },
    };
  });
}

function queryOf(same: readonly [FactLookup, ...FactLookup[]], counterLock: CounterLock): FactQuery {
  const [first] = same;
  const ids = [...new Set(same.map(factId))];
  switch (first.kind) {
    case 'id-holder': {
      const factOf = ({ swept }: FactRow): Fact => (swept ? 'sweep' : 'record');
      return { statement: selectIdHolders(first.model).with(ids), factOf, otherwise: 'nothing' };
    }
    case 'used-group':
      return { statement: USED_GROUPS.with(ids), factOf: () => true, otherwise: false };
    case 'key': {
      const keys = same as readonly (typeof first)[];
      const columns = first.fields.map((_, index) => keys.map(({ values }) => values[index] as string));
      const statement = selectKeys(first.model, first.fields.join(' ')).with(...columns);
      return { statement, factOf: ({ holder }) => holder, otherwise: null };
    }
    // Numbers are dense, so batches that number tasks of one workspace follow each other. `hold` locks the counter from here on.
    // `look` does not: the transaction checks the counter when it writes it, and until then the batches may overlap. Keeps
    // sync.mutate.task-number.
    case 'counter': {
      const statement = SELECT_COUNTERS(counterLock).with(ids);
      return { statement, factOf: ({ last_number }) => last_number, otherwise: null };
    }
    case 'audience': {
      const factOf = ({ live, frozen }: FactRow): Fact => ({ live: setOf(live), frozen: setOf(frozen) });
      return { statement: AUDIENCES.with(ids), factOf };
    }
    case 'creation': {
      const factOf = ({ client_id: clientId, actor_id: actorId, sync_id }: FactRow): Fact => ({
        clientId,
        actorId,
        entry: BigInt(sync_id),
      });
      return { statement: CREATIONS.with(ids, first.model.name), factOf, otherwise: null };
    }
    case 'extent': {
      const { model, scope, recordsMax } = first;
      const factOf = ({ records, bytes, levels }: FactRow): Fact => ({
        records: Number(records),
        bytes: Number(bytes),
        levels: Number(levels),
      });
      return { statement: EXTENTS(model, scope).with(ids, String(recordsMax)), factOf };
    }
    case 'last':
      return { statement: LAST_ENTRIES.with(ids, first.model.name), factOf: ({ last }) => BigInt(last) };
    case 'depth': {
      const statement = DEPTHS(first.model, chainField(first.model)).with(ids, String(SYNC_LIMITS.commentDepthMax));
      return { statement, factOf: ({ depth }) => Number(depth) };
    }
    case 'calendar': {
      const factOf = ({ now, zone }: FactRow): Fact => ({ now, timeZone: zone ?? 'UTC' });
      return { statement: CALENDARS.with(ids), factOf };
    }
    case 'open-tasks':
      return { statement: OPEN_TASKS.with(ids, String(SYNC_LIMITS.repeatOpenAmong)), factOf: ({ open }) => open };
    case 'leaving': {
      const people = same as readonly (typeof first)[];
      const statement = LEAVING.with(
        people.map(({ workspaceId }) => workspaceId),
        people.map(({ userId }) => userId),
      );
      return { statement, factOf: () => true, otherwise: false };
    }
  }
}

function setOf(ids: string): ReadonlySet<string> {
  return new Set(ids === '' ? [] : ids.split(' '));
}

/** The field that refers to a record of the same model, which the record is deleted with. */
function chainField(model: Model): string {
  const chain = dependentsOf(model).find((one) => one.model === model && one.onDelete === 'delete');
  if (!chain) throw new Error(`No ${model.name} is below another one`);
  return chain.field;
}
