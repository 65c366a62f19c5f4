import { can } from '@wts/access';
import type { ModelRecord, Role } from '@wts/contracts';
import { modelNamed, type Model } from '@wts/models';
import type { Row } from '../store/rows.ts';
import { roleIn } from './permit.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Unit } from './unit.ts';
import type { World } from './world.ts';

const WorkspaceMember = modelNamed('WorkspaceMember');
const Project = modelNamed('Project');

/** Models whose records are groups and whose ids no client chooses. */
export const GROUP_MODELS: readonly Model[] = [modelNamed('Workspace'), modelNamed('User')];

type Values = Record<string, unknown>;

/** Values that follow from others, set before differences are taken. `before` is null for a new record. */
export function derive(model: Model, before: ModelRecord | null, values: Values, now: string): void {
  if (model.name === 'Comment' && before && 'body' in values && values['body'] !== before['body'])
    values['editedAt'] = now;
  if (
    model.name === 'Project' &&
    'status' in values &&
    values['status'] !== before?.['status'] &&
    !('completedAt' in values && before)
  ) {
    // A project that is marked done is completed now; one that is taken up again is not.
    const done = values['status'] === 'done';
    if (done ? (values['completedAt'] ?? before?.['completedAt'] ?? null) === null : before?.['status'] === 'done') {
      values['completedAt'] = done ? now : null;
    }
  }
}

/** Rules over several records. `before` null: an INSERT; `after` null: a DELETE. */
export function guard(world: World, unit: Unit, before: Row | null, after: Row | null): Refusal | null {
  const model = (after ?? before)?.model;
  if (model === WorkspaceMember) return guardOwners(world, unit, before, after);
  if (model === Project && before === null && after !== null) return guardGroup(world, after);
  return null;
}

/**
 * A private project is a group under its own id, as workspaces and people are under theirs. Clients choose the ids of
 * projects, so one that took the id of a workspace or a person would open that group to its maker.
 */
function guardGroup(world: World, project: Row): Refusal | null {
  const isTaken = GROUP_MODELS.some((model) => world.isTaken(model, project.id));
  return isTaken ? refuse('conflict', 'A Project with this id exists') : null;
}

/** Only owners make or unmake owners, and a workspace always keeps one. Keeps workspaces.members.last-owner. */
function guardOwners(world: World, unit: Unit, before: Row | null, after: Row | null): Refusal | null {
  const was = before?.record['role'] as Role | undefined;
  const becomes = after?.record['role'] as Role | undefined;
  if ((was !== 'owner' && becomes !== 'owner') || was === becomes) return null;
  const workspaceId = (after ?? before)?.workspaceId ?? '';
  const { userId } = unit.principal;
  const leaving = before !== null && after === null && before.record['userId'] === userId;
  if (unit.authority === 'caller' && !leaving) {
    const role = roleIn(world, workspaceId, userId);
    if (role === null || !can(role, 'owners.manage')) {
      return refuse('forbidden', 'Only an owner may do this to an owner');
    }
  }
  if (was !== 'owner' || before === null) return null;
  // All owners are locked, so two of them cannot leave at once.
  const owners = world.relatedBy(
    { model: WorkspaceMember, field: 'workspaceId', value: workspaceId, and: { field: 'role', value: 'owner' } },
    'write',
  );
  return owners.some(({ id }) => id !== before.id)
    ? null
    : refuse('last_owner', 'A workspace keeps at least one owner');
}
