import { dependentsOf, type Model } from '@wts/models';
import { LIMITS } from '@wts/contracts';
import type { FactNeed, Facts, Need } from './need.ts';
import type { World } from './world.ts';
import { DEPTHS, EXTENTS } from '../store/extents.ts';
import { LAST_ENTRIES } from '../store/log.ts';
import type { Call } from '../store/prepared.ts';
import { LEAVING } from '../store/sweeps.ts';

type Of<K extends FactNeed['kind']> = Extract<FactNeed, { kind: K }>;

interface FactQuestion {
  readonly call: Call;
  take(rows: readonly unknown[], world: World): void;
}

/** What is asked about records beside their rows: a statement for those that are asked alike. */
export function factQuestions(needs: readonly Need[]): FactQuestion[] {
  const of = <K extends FactNeed['kind']>(kind: K): Of<K>[] =>
    needs.filter((need): need is Of<K> & Need => need.kind === kind);
  return [...extents(of('extent')), ...lasts(of('last')), ...depths(of('depth')), ...leavings(of('leaving'))];
}

const idsOf = (needs: readonly { readonly id: string }[]): string[] => [...new Set(needs.map(({ id }) => id))];

function extents(needs: readonly Of<'extent'>[]): FactQuestion[] {
  const alike = Map.groupBy(needs, ({ model, way }) => `${model.name} ${way}`);
  return [...alike.values()].map((same) => {
    const { model, way, recordsMax } = same[0] as Of<'extent'>;
    return {
      call: EXTENTS(model, way).with(idsOf(same), String(recordsMax)),
      take(rows, world) {
        const found = new Map(
          (rows as { id: string; records: string; bytes: string; levels: string }[]).map((row) => [
            row.id,
            { records: Number(row.records), bytes: Number(row.bytes), levels: Number(row.levels) },
          ]),
        );
        for (const need of same) world.keepFact(need, found.get(need.id) ?? { records: 1, bytes: 0, levels: 0 });
      },
    };
  });
}

function lasts(needs: readonly Of<'last'>[]): FactQuestion[] {
  return [...Map.groupBy(needs, ({ model }) => model)].map(([model, same]) => ({
    call: LAST_ENTRIES.with(idsOf(same), model.name),
    take: keepById(same, 'last', BigInt, 0n),
  }));
}

function depths(needs: readonly Of<'depth'>[]): FactQuestion[] {
  return [...Map.groupBy(needs, ({ model }) => model)].map(([model, same]) => ({
    call: DEPTHS(model, chainField(model)).with(idsOf(same), String(LIMITS.commentDepthMax)),
    take: keepById(same, 'depth', Number, 0),
  }));
}

/** Whole and part are of one model. */
function chainField(model: Model): string {
  const chain = dependentsOf(model).find((one) => one.model === model && one.onDelete === 'delete');
  if (!chain) throw new Error(`No ${model.name} is a part of another one`);
  return chain.field;
}

function keepById<T extends Facts[keyof Facts]>(
  needs: readonly (FactNeed & { readonly id: string })[],
  column: string,
  read: (text: string) => T,
  none: T,
): FactQuestion['take'] {
  return (rows, world) => {
    const found = new Map((rows as Record<string, string>[]).map((row) => [row['id'], row[column]]));
    for (const need of needs) {
      const text = found.get(need.id);
      world.keepFact(need, text === undefined ? none : read(text));
    }
  };
}

function leavings(needs: readonly Of<'leaving'>[]): FactQuestion[] {
  if (needs.length === 0) return [];
  return [
    {
      call: LEAVING.with(
        needs.map(({ workspaceId }) => workspaceId),
        needs.map(({ userId }) => userId),
      ),
      take(rows, world) {
        const found = new Set(
          (rows as { workspace_id: string; user_id: string }[]).map((row) => `${row.workspace_id} ${row.user_id}`),
        );
        for (const need of needs) world.keepFact(need, found.has(`${need.workspaceId} ${need.userId}`));
      },
    },
  ];
}
