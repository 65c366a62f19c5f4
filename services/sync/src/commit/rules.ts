import { can } from '@wts/access';
import {
  Comment,
  idIn,
  isOf,
  Project,
  Task,
  User,
  Workspace,
  WorkspaceMember,
  type Model,
  type RecordOf,
} from '@wts/models';
import { hasNoDay } from '@wts/models/repeat';
import type { Row } from '../store/rows.ts';
import { roleIn } from './permissions.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Unit } from './unit.ts';
import type { DecisionState } from './decision-state.ts';

/** Models whose records are groups under their own ids: a project is a group while it is private. */
export const GROUP_MODELS: readonly Model[] = [Workspace, User, Project];

type Values = Record<string, unknown>;

/** `before` is null for a new record; `given` is the payload of the mutation. */
interface Change {
  readonly before: RecordOf<Model> | null;
  readonly given: Readonly<Values>;
  readonly now: string;
}

/** Values that follow from others, set before differences are taken. */
export function derive(model: Model, values: Values, { before, given, now }: Change): void {
  if (model === Comment && before && 'body' in values && values['body'] !== before['body']) values['editedAt'] = now;
  if (model === Project) deriveCompletion(values, { before, given, now });
}

/**
 * A project has `completedAt` exactly when its `status` is `done`. The other field follows the one that the mutation changes;
 * if it changes both, `completedAt` follows `status`. Keeps sync.mutate.completed.
 */
function deriveCompletion(values: Values, { before, given, now }: Change): void {
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

/** Rules for memberships of workspaces. `before` null: an INSERT; `after` null: a DELETE. */
export function checkMembership(
  state: DecisionState,
  unit: Unit,
  before: Row | null,
  after: Row | null,
): Refusal | null {
  const model = (after ?? before)?.model;
  if (model !== WorkspaceMember) return null;
  return (before === null && after ? checkReturn(state, after) : null) ?? checkOwners(state, unit, before, after);
}

/**
 * An id names one group and never another. Clients choose the ids of projects: a project with the id of a workspace or a person
 * would give its creator access to that group, and one with the id of a deleted project to the entries of that.
 * Keeps sync.group.used-once.
 */
export function checkGroupId(state: DecisionState, model: Model, id: string): Refusal | null {
  if (!GROUP_MODELS.includes(model)) return null;
  if (state.wasUsedAsGroup(model, id)) return refuse('conflict', `A ${model.name} with this id already exists`);
  state.useAsGroup(id);
  return null;
}

/** A rule that never comes would be a task that silently never repeats. Keeps sync.mutate.repeat-rule. */
export function checkRepeatRule(row: Row, changed: readonly string[], now: string): Refusal | null {
  if (!isOf(row, Task) || !changed.includes('repeatRule')) return null;
  const { repeatRule, startDate, deadlineAt } = row.record;
  const isRefused = repeatRule !== null && hasNoDay({ rule: repeatRule, startDate, deadlineAt }, now.slice(0, 10));
  return isRefused ? refuse('validation_failed', 'repeatRule has no day in the next 30 years') : null;
}

/** A person joins again only after a sweep has deleted their earlier memberships inside the workspace, so that they do not regain them. */
function checkReturn(state: DecisionState, { workspaceId, record }: Row): Refusal | null {
  const isLeaving = state.fact({ kind: 'leaving', workspaceId: workspaceId ?? '', userId: idIn(record, 'userId') });
  return isLeaving
    ? refuse('unavailable', 'The earlier memberships of this person are still being removed; try again shortly')
    : null;
}

/** Only owners add, change or remove owners, and a workspace always keeps one. Keeps workspaces.members.last-owner. */
function checkOwners(state: DecisionState, unit: Unit, before: Row | null, after: Row | null): Refusal | null {
  const [was, becomes] = [before, after].map((row) =>
    row && isOf(row, WorkspaceMember) ? row.record.role : undefined,
  );
  if ((was !== 'owner' && becomes !== 'owner') || was === becomes) return null;
  const workspaceId = (after ?? before)?.workspaceId ?? '';
  const { userId } = unit.principal;
  const leaving = before !== null && after === null && before.record['userId'] === userId;
  if (unit.authority === 'caller' && !leaving) {
    const role = roleIn(state, workspaceId, userId);
    if (role === null || !can(role, 'owners.manage')) {
      return refuse('forbidden', 'Only an owner can add, change or remove an owner');
    }
  }
  if (was !== 'owner' || before === null) return null;
  // All owners are locked, so two of them cannot leave at the same time.
  const owners = state.related(
    { model: WorkspaceMember, field: 'workspaceId', value: workspaceId, and: { field: 'role', value: 'owner' } },
    'write',
  );
  return owners.some(({ id }) => id !== before.id)
    ? null
    : refuse('last_owner', 'A workspace keeps at least one owner');
}
