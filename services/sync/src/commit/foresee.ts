import { findModel, targetOf, User, Workspace, WorkspaceMember, type Model } from '@wts/models';
import { keysOf } from './keys.ts';
import { GROUP_MODELS } from './rules.ts';
import type { Mutation, Unit } from './unit.ts';
import type { Need } from './world.ts';

/**
 * What the mutations name and who the callers are: read in the first round, so that most batches need no second. Only a
 * guess that saves time; whatever is missed is asked for while deciding.
 */
export function foreseenNeeds(units: readonly Unit[]): Need[] {
  const needs: Need[] = [];
  const people = new Set<string>();
  for (const unit of units) {
    if (unit.authority === 'caller') people.add(unit.principal.userId);
    for (const mutation of unit.mutations) foresee(needs, people, mutation);
  }
  for (const userId of people) {
    needs.push({ kind: 'related', model: WorkspaceMember, field: 'userId', value: userId, lock: 'look' });
  }
  return needs;
}

function foresee(needs: Need[], people: Set<string>, { modelName, modelId, action, payload }: Mutation): void {
  const model = findModel(modelName);
  if (!model) return;
  const id = modelId.toLowerCase();
  needs.push(action === 'INSERT' ? { kind: 'taken', model, id } : { kind: 'row', model, id, lock: 'write' });
  if (action === 'INSERT') needs.push(...counterOf(model, payload), ...keysIn(model, payload));
  if (action === 'INSERT' && GROUP_MODELS.includes(model)) needs.push({ kind: 'used', model, id });
  if (action !== 'INSERT' && action !== 'UPDATE') return;
  for (const [name, field] of Object.entries(model.fields)) {
    if (!field.reference || field.assigned || (field.immutable && action === 'UPDATE')) continue;
    const target = targetOf(model, name);
    if (target === Workspace) continue;
    const reading = field.read(payload[name]);
    if (!reading.ok || reading.value === null) continue;
    for (const id of [reading.value].flat() as string[]) {
      if (target === User) people.add(id);
      else needs.push({ kind: 'row', model: target, id, lock: 'refer' });
    }
  }
}

/** A record belongs to the group of its workspace, as far as it can be known without its parents. */
function keysIn(model: Model, payload: Mutation['payload']): Need[] {
  return keysOf(model).flatMap((fields): Need[] => {
    const values = fields.map((name) => {
      const field = name === 'groupId' ? 'workspaceId' : name;
      const reading = model.fields[field]?.read(payload[field]);
      return reading?.ok ? reading.value : null;
    });
    return values.every((value) => typeof value === 'string') ? [{ kind: 'key', model, fields, values }] : [];
  });
}

function counterOf(model: Model, payload: Mutation['payload']): Need[] {
  if (!Object.values(model.fields).some(({ assigned }) => assigned === 'counter')) return [];
  const workspaceId = model.fields['workspaceId']?.read(payload['workspaceId']);
  return workspaceId?.ok && typeof workspaceId.value === 'string'
    ? [{ kind: 'counter', workspaceId: workspaceId.value }]
    : [];
}
