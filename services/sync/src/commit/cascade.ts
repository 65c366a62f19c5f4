import { dependentsOf, modelNamed } from '@wts/models';
import type { Row } from '../store/rows.ts';
import { change, depart } from './effects.ts';
import { descend } from './family.ts';
import type { Effect } from './unit.ts';
import { key, within, type Relation, type World } from './world.ts';

const WorkspaceMember = modelNamed('WorkspaceMember');
const ProjectMember = modelNamed('ProjectMember');
const TeamMember = modelNamed('TeamMember');

/**
 * Deletes a record and what cannot be without it, parts before wholes, each as an entry of its own; what only pointed to it
 * lets go. Keeps sync.mutate.cascade.
 */
export function remove(world: World, row: Row, now: string): Effect[] {
  const going = descend(world, row, membershipsInside);
  const gone = new Set(going.map(({ model, id }) => key(model, id)));
  world.expect(
    going.flatMap((one) => pointers(one).map(({ model, field }) => ({ model, field, value: one.id }))),
    'write',
  );
  return going.flatMap((one) => [...letGo(world, one, gone, now), ...depart(world, one)]);
}

/** Who leaves a workspace leaves its teams and projects: otherwise a private project would stay open to them. */
function membershipsInside({ model, record, workspaceId }: Row): Relation[] {
  if (model !== WorkspaceMember) return [];
  const value = record['userId'] as string;
  return [TeamMember, ProjectMember].map((inside) =>
    within(workspaceId ?? '', { model: inside, field: 'userId', value }),
  );
}

const pointers = ({ model }: Row) => dependentsOf(model).filter(({ onDelete }) => onDelete === 'clear');

function letGo(world: World, target: Row, gone: ReadonlySet<string>, now: string): Effect[] {
  const effects: Effect[] = [];
  for (const { model, field, many } of pointers(target)) {
    for (const holder of world.related(model, field, target.id, 'write')) {
      if (gone.has(key(holder.model, holder.id))) continue;
      const value = many ? (holder.record[field] as string[]).filter((other) => other !== target.id) : null;
      const record = { ...holder.record, [field]: value, updatedAt: now };
      effects.push(...change(world, holder, { ...holder, record, text: JSON.stringify(record) }, [field]));
    }
  }
  return effects;
}
