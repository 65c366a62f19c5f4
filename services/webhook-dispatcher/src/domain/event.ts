import { API_VERSION, webhookApi, type ModelRecord, type StoredEntry, type WebhookEvent } from '@wts/contracts';
import { findModel } from '@wts/models';

/*
 * From an entry of the log to the event that endpoints get for it.
 *
 * Only entries of the workspace's own group count: what is inside a private project has the group of that project, so it
 * reaches no endpoint, and a record that moves into one leaves the workspace with a DELETE, as in the log.
 *
 * Keeps events.filter.private-projects, events.body.fields, events.body.same-id, events.body.sync-action-id,
 * events.body.object, events.body.changes, events.body.dates and which change is which event: events.task.created,
 * events.task.updated, events.task.completed, events.task.archived, events.task.deleted, events.project.created,
 * events.project.updated, events.project.completed, events.project.archived, events.project.deleted,
 * events.comment.created, events.comment.updated, events.comment.deleted.
 */

/** The parts of an entry that an event is made of. */
export type EventSource = Pick<
  StoredEntry,
  | 'syncId'
  | 'eventId'
  | 'workspaceId'
  | 'groupId'
  | 'modelName'
  | 'action'
  | 'record'
  | 'changed'
  | 'completes'
  | 'createdAt'
>;

export interface StoredEvent {
  readonly id: string;
  /** Where the entry lies in the log; null for a test. */
  readonly position: string | null;
  readonly type: webhookApi.EventType;
  readonly createdAt: string;
  readonly workspaceId: string;
  /** The text that is sent, the same for every endpoint and every attempt. */
  readonly body: string;
}

/** An event whose body is not written yet. */
export interface EventDraft extends Omit<StoredEvent, 'body'> {
  readonly object: ModelRecord;
  readonly changes: readonly string[];
}

/**
 * The event of an entry; null when it has none. Throws for an entry that should have an event and cannot: what it says
 * is stored with the entry.
 */
export function eventOf(entry: EventSource): EventDraft | null {
  const { syncId, eventId, workspaceId, groupId, modelName, record, createdAt } = entry;
  const model = findModel(modelName);
  if (model !== undefined && model.event === undefined) return null;
  if (workspaceId === null) {
    if (model === undefined) return null;
    throw new Error(`a ${modelName} belongs to no workspace`);
  }
  if (groupId !== workspaceId) return null;
  if (model?.event === undefined) throw new Error('no model has this name');
  const verb = verbOf(entry);
  if (typeof record !== 'object' || record === null) throw new Error('the entry has no record');
  const changes = verb === 'created' || verb === 'deleted' ? [] : entry.changed.filter((name) => name !== 'updatedAt');
  return {
    id: eventId,
    position: syncId,
    type: typeOf(`${model.event}.${verb}`),
    createdAt,
    workspaceId,
    object: record,
    changes,
  };
}

export function testEvent(id: string, workspaceId: string, createdAt: string, endpoint: ModelRecord): StoredEvent {
  const type = webhookApi.TEST_EVENT_TYPE;
  return storedEvent({ id, position: null, type, createdAt, workspaceId, object: endpoint, changes: [] });
}

/** Writes the body of an event. */
export function storedEvent({ object, changes, ...event }: EventDraft): StoredEvent {
  const { id, type, createdAt, workspaceId, position } = event;
  const body: WebhookEvent = {
    id,
    type,
    createdAt,
    apiVersion: API_VERSION,
    workspaceId,
    syncActionId: position,
    data: { object, changes },
  };
  return { ...event, body: JSON.stringify(body) };
}

function typeOf(name: string): webhookApi.EventType {
  const type = webhookApi.EVENT_TYPES.find((known) => known === name);
  if (type === undefined) throw new Error(`${name} is no type of event`);
  return type;
}

function verbOf({ action, completes }: EventSource): string {
  switch (action) {
    case 'INSERT':
      return 'created';
    case 'UPDATE':
      return completes ? 'completed' : 'updated';
    case 'ARCHIVE':
      return 'archived';
    case 'UNARCHIVE':
      return 'updated';
    case 'DELETE':
      return 'deleted';
    default:
      throw new Error('no action has this name');
  }
}
