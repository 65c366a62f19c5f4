import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ACTIONS, ROLES, type ActionName, type JsonSchema, type Role } from '@wts/contracts';
import { modelNamed } from '@wts/models';
import { assertLogIsState, shownOutside } from '../../test/fold.ts';
import { HAS_GAPS } from '@wts/testkit';
import { TestEngines, change, membership, type TestPerson } from '../../test/test-engines.ts';
import { SWEEP_CLIENT } from '../sweeps/sweeper.ts';
import type { Unit } from '../decision/unit.ts';

/** The same numbers for the same seed, so that a failure can be run again. */
function dice(seed: number): { below(limit: number): number; of<T>(items: readonly T[]): T } {
  let state = seed >>> 0;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  return { below, of: (items) => items[below(items.length)]! };
}

type Dice = ReturnType<typeof dice>;

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

interface Cast {
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

function anyUnit(cast: Cast, roll: Dice): Unit {
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

describe('the log and the tables', function () {
  for (const [seed, bounds] of [
    [1, {}],
    [2, { recordsMax: 3, levelsMax: 1 }],
  ] as const) {
    const how = seed > 1 ? ', with sweeps for most deletions and moves' : '';
    it(`are equal group by group after any changes by many people through several replicas (seed ${seed})${how}`, async () => {
      await using engines = await TestEngines.open('state_is_log', 3, bounds);
      const roll = dice(seed);
      const owner = await engines.person('Owner');
      const home = await engines.workspace(owner);
      const workspaces = [home, home, home, home, home, await engines.workspace(owner)];
      const people = [owner];
      for (const role of [...ROLES, 'member', 'member'] as const)
        people.push(await engines.join(workspaces.at(people.length === 3 ? -1 : 0)!, role));
      const ids = new Ids({
        WorkspaceMember: 6,
        Team: 3,
        TeamMember: 5,
        Project: 5,
        ProjectMember: 6,
        Label: 5,
        Task: 15,
        TaskChecklistItem: 10,
        Comment: 20,
      });
      const cast = { people, workspaces, ids };

      const roots = MODELS_TRIED.flatMap((model) =>
        ids.all(model).map((id) => owner.unit(change('INSERT', model, id, payloadOf(model, cast, roll, false)))),
      );
      await engines.any.commit(roots);
      const counts = { applied: 0, refused: 0 };
      for (let round = 0; round < 20; round += 1) {
        const requests = Array.from({ length: 6 }, () =>
          Array.from({ length: 1 + roll.below(8) }, () => anyUnit(cast, roll)),
        );
        const sweeping = round % 3 === 0 ? engines.sweep() : undefined;
        const outcomes = (await Promise.all(requests.map((units) => engines.any.commit(units)))).flat();
        await sweeping;
        for (const { ok } of outcomes) counts[ok ? 'applied' : 'refused'] += 1;
      }
      assert.ok(counts.applied > 100 && counts.refused > 50, JSON.stringify(counts));

      await engines.sweep();
      assert.equal(await engines.sweeps(), 0);
      const entries = await engines.entries();
      assert.ok(seed === 1 || entries.some(({ clientId }) => clientId === SWEEP_CLIENT));
      if (!HAS_GAPS) assert.equal(entries.at(-1)?.syncId, String(entries.length));
      assert.ok(new Set(entries.map(({ action }) => action)).size === ACTIONS.length);
      assert.deepEqual(shownOutside(entries), []);
      await assertLogIsState(entries, engines.pool);
    });
  }
});
