import { LIMITS } from '@wts/contracts';
import { dependentsOf, modelNamed } from '@wts/models';
import type { Row } from '../store/rows.ts';
import { change, depart } from './effects.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Effect } from './unit.ts';
import type { World } from './world.ts';

const WorkspaceMember = modelNamed('WorkspaceMember');
const ProjectMember = modelNamed('ProjectMember');
const TeamMember = modelNamed('TeamMember');

/**
 * Deletes a record and what cannot be without it, parts before wholes, each as an entry of its own; what only pointed to it
 * lets go. Everything touched is locked, so nothing new can be attached meanwhile.
 */
export function remove(world: World, row: Row, now: string): { ok: true; effects: Effect[] } | Refusal {
  const effects: Effect[] = [];
  const gone = new Set<string>();
  collect(world, row, now, effects, gone);
  return effects.length <= LIMITS.cascadeActionsMax
    ? { ok: true, effects }
    : refuse(
        'conflict',
        `Deleting this changes more than ${LIMITS.cascadeActionsMax} records; delete what is inside first`,
      );
}

function collect(world: World, row: Row, now: string, effects: Effect[], gone: Set<string>): void {
  if (gone.has(row.id) || effects.length > LIMITS.cascadeActionsMax) return;
  gone.add(row.id);
  if (row.model === WorkspaceMember) leaveInside(world, row, effects);
  for (const { model, field, many, onDelete } of dependentsOf(row.model)) {
    for (const dependent of world.related(model, field, row.id, 'write')) {
      if (gone.has(dependent.id)) continue;
      if (onDelete === 'delete') collect(world, dependent, now, effects, gone);
      else effects.push(...change(world, dependent, without(dependent, field, many, row.id, now), [field]));
    }
  }
  effects.push(...depart(world, row));
}

/** Who leaves a workspace leaves its teams and projects: otherwise a private project would stay open to them. */
function leaveInside(world: World, membership: Row, effects: Effect[]): void {
  const userId = membership.record['userId'] as string;
  for (const model of [TeamMember, ProjectMember]) {
    for (const inside of world.related(model, 'userId', userId, 'write')) {
      if (inside.workspaceId === membership.workspaceId) effects.push(...depart(world, inside));
    }
  }
}

function without(row: Row, field: string, many: boolean, id: string, now: string): Row {
  const value = many ? (row.record[field] as string[]).filter((other) => other !== id) : null;
  const record = { ...row.record, [field]: value, updatedAt: now };
  return { ...row, record, text: JSON.stringify(record) };
}
