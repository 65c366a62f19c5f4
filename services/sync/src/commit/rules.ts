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
import type { Row } from '../store/rows.ts';
import type { Decision } from './decision.ts';
import { Refused } from './refusal.ts';
import { deriveSeries, type TaskChange } from './series.ts';
import { roleIn } from './visibility.ts';

/** Models whose records are groups under their own ids: a project is a group while it is private. */
export const GROUP_MODELS: readonly Model[] = [Workspace, User, Project];

type Values = Record<string, unknown>;

/** `before` is null for a new record; `given` is the payload of the mutation. */
interface Change {
  readonly id: string;
  readonly before: RecordOf<Model> | null;
  readonly given: Readonly<Values>;
}

/** Sets values that follow from others, before differences are taken; refuses those that nothing can follow from. */
export function derive(decision: Decision, model: Model, values: Values, change: Change): void {
  const { before } = change;
  const { now } = decision;
  if (model === Task) deriveSeries(decision, values, change as TaskChange);
  if (model === Comment && before && 'body' in values && values['body'] !== before['body']) values['editedAt'] = now;
  if (model === Project) deriveCompletion(values, { ...change, now });
}

/**
 * A project has `completedAt` exactly when its `status` is `done`. The other field follows the one that the mutation changes;
 * if it changes both, `completedAt` follows `status`. Keeps sync.mutate.completed.
 */
function deriveCompletion(values: Values, { before, given, now }: Change & { readonly now: string }): void {
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
export function checkMembership(decision: Decision, before: Row | null, after: Row | null): void {
  if ((after ?? before)?.model !== WorkspaceMember) return;
  if (before === null && after) checkReturn(decision, after);
  checkOwners(decision, before, after);
}

/**
 * An id names one group and never another. Clients choose the ids of projects: a project with the id of a workspace or a person
 * would give its creator access to that group, and one with the id of a deleted project to the entries of that.
 * Keeps sync.group.used-once.
 */
export function checkGroupId(decision: Decision, model: Model, id: string): void {
  if (!GROUP_MODELS.includes(model)) return;
  if (decision.wasUsedAsGroup(model, id)) throw new Refused('conflict', `A ${model.name} with this id already exists`);
  decision.changes.useAsGroup(id);
}

/** A person joins again only after a sweep has deleted their earlier memberships inside the workspace, so that they do not regain them. */
function checkReturn({ reads }: Decision, { workspaceId, record }: Row): void {
  if (reads.fact({ kind: 'leaving', workspaceId: workspaceId ?? '', userId: idIn(record, 'userId') }))
    throw new Refused(
      'unavailable',
      'The earlier memberships of this person are still being removed; try again shortly',
    );
}

/** Only owners add, change or remove owners, and a workspace always keeps one. Keeps workspaces.members.last-owner. */
function checkOwners(decision: Decision, before: Row | null, after: Row | null): void {
  const [was, becomes] = [before, after].map((row) =>
    row && isOf(row, WorkspaceMember) ? row.record.role : undefined,
  );
  if ((was !== 'owner' && becomes !== 'owner') || was === becomes) return;
  const workspaceId = (after ?? before)?.workspaceId ?? '';
  const { userId } = decision;
  const isLeaving = before !== null && after === null && before.record['userId'] === userId;
  if (!decision.isByService && !isLeaving) {
    const role = roleIn(decision, workspaceId, userId);
    if (role === null || !can(role, 'owners.manage'))
      throw new Refused('forbidden', 'Only an owner can add, change or remove an owner');
  }
  if (was !== 'owner' || before === null) return;
  // All owners are locked, so two of them cannot leave at the same time.
  const owners = decision.related(
    { model: WorkspaceMember, field: 'workspaceId', value: workspaceId, and: { field: 'role', value: 'owner' } },
    'write',
  );
  if (owners.every(({ id }) => id === before.id))
    throw new Refused('last_owner', 'A workspace keeps at least one owner');
}
