import { can } from '@wts/access';
import { Comment, idIn, isOf, Project, User, Workspace, WorkspaceMember, type Model, type RecordOf } from '@wts/models';
import type { Row } from '../store/rows.ts';
import { roleIn } from './permit.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Unit } from './unit.ts';
import type { World } from './world.ts';

/** Models whose records are groups under their own ids: a project is one while it is private. */
export const GROUP_MODELS: readonly Model[] = [Workspace, User, Project];

type Values = Record<string, unknown>;

/** What a change gives, and what it is to. `before` is null for a new record; `given` is the payload as it came. */
interface Given {
  readonly before: RecordOf<Model> | null;
  readonly given: Readonly<Values>;
  readonly now: string;
}

/** Values that follow from others, set before differences are taken. */
export function derive(model: Model, values: Values, { before, given, now }: Given): void {
  if (model === Comment && before && 'body' in values && values['body'] !== before['body']) values['editedAt'] = now;
  if (model === Project) followEachOther(values, { before, given, now });
}

/**
 * A project is done exactly when it has the time at which it was. Of the two, the one that a change gives and that differs
 * leads; where both do, `status`. Keeps sync.mutate.completed.
 */
function followEachOther(values: Values, { before, given, now }: Given): void {
  const differs = (name: string): boolean => given[name] !== undefined && values[name] !== (before?.[name] ?? null);
  const [status, completedAt] = [values['status'] ?? before?.['status'], values['completedAt'] ?? null];
  if (differs('status')) {
    const at = 'completedAt' in values ? completedAt : (before?.['completedAt'] ?? null);
    if (status === 'done') values['completedAt'] = at ?? now;
    else if (at !== null) values['completedAt'] = null;
  } else if (differs('completedAt')) {
    if (completedAt !== null) values['status'] = 'done';
    else if (status === 'done') values['status'] = 'active';
  }
}

/** Rules over several records. `before` null: an INSERT; `after` null: a DELETE. */
export function guard(world: World, unit: Unit, before: Row | null, after: Row | null): Refusal | null {
  const model = (after ?? before)?.model;
  if (model === WorkspaceMember)
    return (before === null && after ? guardReturn(world, after) : null) ?? guardOwners(world, unit, before, after);
  return null;
}

/**
 * An id names one group for ever. Clients choose the ids of projects: one that took the id of a workspace or a person would
 * open that group to its maker, and one that took the id of a project that is gone would be shown what is kept of it.
 * Keeps sync.group.used-once.
 */
export function useGroup(world: World, model: Model, id: string): Refusal | null {
  if (!GROUP_MODELS.includes(model)) return null;
  if (world.isUsed(model, id)) return refuse('conflict', `A ${model.name} with this id already exists`);
  world.use(id);
  return null;
}

/** Who comes back does not find what they were inside of before: memberships that are still being cleared are not theirs again. */
function guardReturn(world: World, { workspaceId, record }: Row): Refusal | null {
  const isLeaving = world.fact({ kind: 'leaving', workspaceId: workspaceId ?? '', userId: idIn(record, 'userId') });
  return isLeaving
    ? refuse('unavailable', 'The earlier memberships of this person are still being removed; try again shortly')
    : null;
}

/** Only owners make or unmake owners, and a workspace always keeps one. Keeps workspaces.members.last-owner. */
function guardOwners(world: World, unit: Unit, before: Row | null, after: Row | null): Refusal | null {
  const [was, becomes] = [before, after].map((row) =>
    row && isOf(row, WorkspaceMember) ? row.record.role : undefined,
  );
  if ((was !== 'owner' && becomes !== 'owner') || was === becomes) return null;
  const workspaceId = (after ?? before)?.workspaceId ?? '';
  const { userId } = unit.principal;
  const leaving = before !== null && after === null && before.record['userId'] === userId;
  if (unit.authority === 'caller' && !leaving) {
    const role = roleIn(world, workspaceId, userId);
    if (role === null || !can(role, 'owners.manage')) {
      return refuse('forbidden', 'Only an owner can add, change or remove an owner');
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
