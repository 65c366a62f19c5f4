import { buildRecord, differences, findModel, idIn, RANK_FIELD, unknownModel } from '@wts/models';
import type { Row } from '../store/rows.ts';
import { refuseArchived } from './archived.ts';
import { deleteWithDescendants } from './cascade.ts';
import { hasChanges, type Change } from '../decision/change.ts';
import type { Decision } from '../decision/decision.ts';
import { draftOf, type Draft } from './draft.ts';
import { archiveRow, changeRow, insertRow } from './effects.ts';
import { checkKeys } from './keys.ts';
import { checkMembership } from './memberships.ts';
import { insertNext, stepOnCompletion } from './occurrence.ts';
import { permitChange, subjectOf } from './permissions.ts';
import { moveBehind, placeOf } from './placement.ts';
import { checkReferences } from './references.ts';
import { Refused } from '../decision/refusal.ts';
import type { Effect, Mutation } from '../decision/unit.ts';

/** The entry that the result of a mutation names, the last one of its record; the position where it is an earlier one. */
export type Main = Effect | bigint;

/**
 * Decides one mutation: it becomes a draft, each rule sees the draft once, and what none of them refuses is applied.
 *
 * A mutation that changes nothing succeeds with the position of the last entry. It adds no entry, because readers would get a
 * change without content. Keeps sync.mutate.no-change, sync.mutate.deleted (a deleted record is not found),
 * sync.mutate.server-assigned and sync.mutate.insert-replay.
 */
export function decide(decision: Decision, { modelName, modelId, action, payload: given }: Mutation): Main {
  const model = findModel(modelName);
  if (!model) throw new Refused('validation_failed', unknownModel(modelName));
  const id = modelId.toLowerCase();
  const givenId = given['id'];
  if (givenId !== undefined && (typeof givenId !== 'string' || givenId.toLowerCase() !== id))
    throw new Refused('validation_failed', 'payload.id must equal modelId');

  const before = subjectOf(decision, { action, model, id });
  const draft = draftOf(decision, { action, model, id, before, given });
  permitChange(decision, draft);
  refuseArchived(decision, draft);
  checkReferences(decision, draft);
  checkMembership(decision, draft);
  const earlier = before ? null : earlierInsert(decision, draft);
  if (earlier !== null) return earlier;
  checkKeys(decision, draft);
  apply(decision, draft);
  return decision.lastEntry(model, id);
}

/** A client that inserts the same record again, under another transaction id, gets the result of its first mutation. */
function earlierInsert(decision: Decision, { model, id }: Change): Main | null {
  if (decision.isBeingDeleted(model, id))
    throw new Refused(
      'conflict',
      `A ${model.name} with this id is being deleted with all its parts; try again shortly`,
    );
  if (!decision.isTaken(model, id)) return null;
  const creation = decision.creation(model, id);
  if (creation?.clientId !== decision.unit.clientId || creation.actorId !== decision.userId)
    throw new Refused('conflict', `A ${model.name} with this id already exists`);
  return creation.entry;
}

function apply(decision: Decision, draft: Draft): void {
  const { action, before, after, changed } = draft;
  if (after === null) {
    if (before) deleteWithDescendants(decision, before);
  } else if (before === null) write(decision, draft, after);
  else if (hasChanges({ before, after, changed })) {
    if (action === 'UPDATE') write(decision, draft, after);
    else archiveRow(decision, { before, after, action });
  }
}

/** Writes a record, after what the server assigns and what the placement and the series of it make of others. */
function write(decision: Decision, { model, id, before, changed, placement, repeats }: Draft, after: Row): void {
  const { now, unit, userId, changes } = decision;
  const step = repeats ? stepOnCompletion(decision, after) : null;
  const place = placement && placeOf(decision, after, placement, before);
  const values: Record<string, unknown> = {
    ...after.record,
    ...step?.values,
    ...(place && { [RANK_FIELD]: place.rank }),
  };
  if (before === null) {
    for (const [name, { assigned }] of Object.entries(model.fields))
      if (assigned === 'counter') values[name] = decision.nextNumber(idIn(values, 'workspaceId'));
  }
  const times = before ? { ...before.record, updatedAt: now } : { createdAt: now, updatedAt: now, archivedAt: null };
  const record = buildRecord(model, id, values, times);
  const next: Row = { ...after, record, text: JSON.stringify(record) };
  if (before === null) {
    insertRow(decision, next);
    const entry = decision.lastEntry(model, id);
    changes.setCreation(model, id, { clientId: unit.clientId, actorId: userId, entry });
  } else {
    const differs = step || place ? differences(model, before.record, values) : changed;
    const change = { before, after: next, changed: differs };
    if (hasChanges(change)) changeRow(decision, change);
    if (step?.next) insertNext(decision, next, step.next);
  }
  if (place) moveBehind(decision, place);
}
