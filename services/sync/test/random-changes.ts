import { randomUUID } from 'node:crypto';
import { ACTIONS, ROLES, type ActionName, type JsonSchema, type Role } from '@wts/contracts';
import { modelNamed } from '@wts/models';
import type { Unit } from '../src/decision/unit.ts';
import { change, membership, type TestEngines, type TestPerson } from './test-engines.ts';

/** The same numbers for the same seed, so that a failure can be run again. */
export function dice(seed: number): { below(limit: number): number; of<T>(items: readonly T[]): T } {
  let state = seed >>> 0;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  return { below, of: (items) => items[below(items.length)]! };
}

export type Dice = ReturnType<typeof dice>;

/** Few ids, so that changes conflict: some exist, some are deleted, some never existed. */
class Ids {
  readonly #ids = new Map<string, string[]>();

  constructor(models: Readonly<Record<string, number>>) {
    for (const [model, count] of Object.entries(models))
      this.#ids.set(
        model,
        Array.from({ length: count }, () => randomUUID()),
      );
  }

  all(model: string): readonly string[] {
    return this.#ids.get(model) ?? [];
  }

  any(model: string, roll: Dice): string {
    return roll.of(this.#ids.get(model) ?? [randomUUID()]);
  }
}

const MODELS_TRIED = [
  'Team',
  'TeamMember',
  'Project',
  'ProjectMember',
  'Label',
  'Task',
  'TaskChecklistItem',
  'Comment',
];
const ACTIONS_TRIED: readonly ActionName[] = [
  'INSERT',
  'INSERT',
  'INSERT',
  'INSERT',
  'UPDATE',
  'UPDATE',
  'UPDATE',
  ...ACTIONS,
  'ARCHIVE',
  'UNARCHIVE',
];

export interface Cast {
  readonly people: readonly TestPerson[];
  readonly workspaces: readonly string[];
  readonly ids: Ids;
}

function payloadOf(
  model: string,
  { people, workspaces, ids }: Cast,
  roll: Dice,
  patch: boolean,
): Record<string, unknown> {
  const payload: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(modelNamed(model).fields)) {
    if (field.assigned || (patch && (field.immutable || roll.below(3) > 0))) continue;
    if (!patch && field.initial !== undefined && roll.below(2) === 0) continue;
    const target = field.reference?.model;
    if (field.nullable && roll.below(3) === 0) payload[name] = null;
    else if (field.reference?.many) payload[name] = [ids.any('Label', roll), ids.any('Label', roll)];
    else if (target === 'User') payload[name] = roll.of(people).id;
    else if (target === 'Workspace') payload[name] = roll.of(workspaces);
    else if (target !== undefined) payload[name] = ids.any(target, roll);
    else if (field.sqlType === 'boolean') payload[name] = roll.below(2) === 0;
    else if (field.sqlType === 'date') payload[name] = '2026-11-21';
    else if (field.sqlType === 'timestamptz') payload[name] = 1_795_222_326_625;
    else if (field.sqlType === 'integer') payload[name] = roll.below(5);
    else payload[name] = textOf(name, field.schema, roll);
  }
  return payload;
}

function textOf(name: string, schema: JsonSchema, roll: Dice): string {
  if (Array.isArray(schema['enum'])) return roll.of(schema['enum'] as string[]);
  if (name === 'key') return `K${roll.below(12)}`;
  if (name === 'color') return '#abc';
  return name === 'sortOrder' ? 'a0' : 'Wörk 🚧 "\\\\" \'; --';
}

/** People in two workspaces, with some records of every model. */
export async function newCast(engines: TestEngines, roll: Dice): Promise<Cast> {
  const owner = await engines.person('Owner');
  const home = await engines.workspace(owner);
  const workspaces = [home, home, home, home, home, await engines.workspace(owner)];
  const people = [owner];
  for (const role of [...ROLES, 'member', 'member'] as const)
    people.push(await engines.join(workspaces.at(people.length === 3 ? -1 : 0)!, role));
  const counts = { WorkspaceMember: 6, Team: 3, TeamMember: 5, Project: 5, ProjectMember: 6, Label: 5 };
  const ids = new Ids({ ...counts, Task: 15, TaskChecklistItem: 10, Comment: 20 });
  const cast = { people, workspaces, ids };
  const roots = MODELS_TRIED.flatMap((model) =>
    ids.all(model).map((id) => owner.unit(change('INSERT', model, id, payloadOf(model, cast, roll, false)))),
  );
  await engines.any.commit(roots);
  return cast;
}

/** A change that any of them may send; many are refused. */
export function anyUnit(cast: Cast, roll: Dice): Unit {
  const person = roll.of(cast.people);
  const { workspaces, people, ids } = cast;
  switch (roll.below(24)) {
    case 0: {
      const mutation = membership(
        roll.of(workspaces),
        roll.of(people).id,
        roll.of(ROLES),
        ids.any('WorkspaceMember', roll),
      );
      return { ...person.unit(mutation), authority: 'service' };
    }
    case 1:
      return person.unit(change('UPDATE', 'User', person.id, { name: `Name ${roll.below(100)}` }));
    case 2: {
      const role: Role = roll.of(ROLES);
      return person.unit(
        change(roll.of(['UPDATE', 'DELETE']), 'WorkspaceMember', ids.any('WorkspaceMember', roll), { role }),
      );
    }
    case 3: {
      const mutations = [1, 2, 3].map(() => anyChange(cast, roll));
      return { ...person.unit(mutations[0]!), mutations };
    }
    default:
      return person.unit(anyChange(cast, roll));
  }
}

function anyChange(cast: Cast, roll: Dice) {
  const model = roll.of(MODELS_TRIED);
  const action = roll.of(ACTIONS_TRIED);
  const payload = action === 'INSERT' || action === 'UPDATE' ? payloadOf(model, cast, roll, action === 'UPDATE') : {};
  return change(action, model, cast.ids.any(model, roll), payload);
}
