import {
  findModel,
  listFieldOf,
  readPlacement,
  setChangesOf,
  targetOf,
  Task,
  User,
  Workspace,
  WorkspaceMember,
  type Model,
} from '@wts/models';
import { GROUP_MODELS, keysOf } from '../rules/keys.ts';
import type { Lookup } from '../decision/lookup.ts';
import type { DueTask, Mutation, Unit } from '../decision/unit.ts';

/**
 * What the mutations name and who the callers are: read in the first round, so that most batches need no second one. The
 * prediction only saves time; rules name every lookup that it misses.
 */
export function predictLookups(units: readonly Unit[]): Lookup[] {
  const lookups: Lookup[] = [];
  const people = new Set<string>();
  for (const unit of units) {
    if (unit.authority === 'caller') people.add(unit.principal.userId);
    for (const mutation of unit.mutations) predict(lookups, people, mutation);
    if (unit.due) predictDueTask(lookups, unit.due);
    if (unit.step && 'records' in unit.step)
      for (const { model, id } of unit.step.records) lookups.push({ kind: 'row', model, id, lock: 'write' });
  }
  for (const userId of people)
    lookups.push({ kind: 'related', model: WorkspaceMember, field: 'userId', value: userId, lock: 'look' });
  return lookups;
}

function predict(lookups: Lookup[], people: Set<string>, { modelName, modelId, action, payload }: Mutation): void {
  const model = findModel(modelName);
  if (!model) return;
  const id = modelId.toLowerCase();
  lookups.push(action === 'INSERT' ? { kind: 'id-holder', model, id } : { kind: 'row', model, id, lock: 'write' });
  if (action === 'INSERT') lookups.push(...inWorkspace(model, payload), ...keysIn(model, payload));
  if (action === 'INSERT' && GROUP_MODELS.includes(model)) lookups.push({ kind: 'used-group', model, id });
  if (action !== 'INSERT' && action !== 'UPDATE') return;
  predictPlacement(lookups, model, payload);
  for (const [name, field] of Object.entries(model.fields)) {
    if (!field.reference || field.assigned || (field.immutable && action === 'UPDATE')) continue;
    predictReferences(lookups, people, { model, name, given: payload[name] });
  }
  if (action !== 'UPDATE') return;
  for (const { field, added } of setChangesOf(model))
    predictReferences(lookups, people, { model, name: field, given: payload[added] });
}

function predictDueTask(lookups: Lookup[], { taskId, workspaceId }: DueTask): void {
  lookups.push(
    { kind: 'row', model: Task, id: taskId, lock: 'write' },
    { kind: 'calendar', workspaceId },
    { kind: 'counter', workspaceId },
  );
}

/** The list of a record that is placed, where the payload names it, and its neighbors. */
function predictPlacement(lookups: Lookup[], model: Model, payload: Mutation['payload']): void {
  const placement = readPlacement(model, payload);
  if (!placement.ok || placement.value === null) return;
  const field = listFieldOf(model);
  const parentId = field && givenText(model, field, payload);
  const home = givenText(model, 'workspaceId', payload);
  if (field && parentId) lookups.push({ kind: 'row', model: targetOf(model, field), id: parentId, lock: 'write' });
  else if (home) lookups.push({ kind: 'row', model: Workspace, id: home, lock: 'write' });
  for (const id of [placement.value.after, placement.value.before])
    if (id !== null) lookups.push({ kind: 'row', model, id, lock: 'write' });
}

function predictReferences(
  lookups: Lookup[],
  people: Set<string>,
  { model, name, given }: { readonly model: Model; readonly name: string; readonly given: unknown },
): void {
  const target = targetOf(model, name);
  if (target === Workspace) return;
  const reading = model.fields[name]?.read(given);
  if (!reading?.ok || reading.value === null) return;
  for (const id of [reading.value].flat() as string[]) {
    if (target === User) people.add(id);
    else lookups.push({ kind: 'row', model: target, id, lock: 'refer' });
  }
}

/** Predicts that a record belongs to the group of its workspace, because its parents are not read yet. */
function keysIn(model: Model, payload: Mutation['payload']): Lookup[] {
  return keysOf(model).flatMap((fields): Lookup[] => {
    const values = fields.map((name) => givenText(model, name === 'groupId' ? 'workspaceId' : name, payload));
    return values.every((value) => typeof value === 'string') ? [{ kind: 'key', model, fields, values }] : [];
  });
}

/** The number of a new task, and the day by which its rule is read. */
function inWorkspace(model: Model, payload: Mutation['payload']): Lookup[] {
  const workspaceId = givenText(model, 'workspaceId', payload);
  if (workspaceId === null) return [];
  const hasCounter = Object.values(model.fields).some(({ assigned }) => assigned === 'counter');
  const hasRule = model === Task && typeof payload['repeatRule'] === 'string';
  return [
    ...(hasCounter ? [{ kind: 'counter', workspaceId } as const] : []),
    ...(hasRule ? [{ kind: 'calendar', workspaceId } as const] : []),
  ];
}

/** The value of a field, such as an id, where the payload has a valid one. */
function givenText(model: Model, name: string, payload: Mutation['payload']): string | null {
  const reading = model.fields[name]?.read(payload[name]);
  return reading?.ok && typeof reading.value === 'string' ? reading.value : null;
}
