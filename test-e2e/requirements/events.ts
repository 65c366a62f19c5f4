import type { Rows } from './rule.ts';

/** What counts as an event, and its body: sections 1, 2 and 6 of the specification. */
// prettier-ignore
export const events: Rows = [
  ['events.task.created', '`task.created` is sent when a task was added.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 6'],
  ['events.task.updated', '`task.updated` is sent when a task changed in any other way.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 6'],
  ['events.task.completed', '`task.completed` is sent when a task went from open to done.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 6'],
  ['events.task.archived', '`task.archived` is sent when a task was moved to Trash.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 6'],
  ['events.task.deleted', '`task.deleted` is sent when a task was removed for good.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 6'],
  ['events.project.created', '`project.created` is sent when a project was added.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 6'],
  ['events.project.updated', '`project.updated` is sent when a project changed in any other way.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 6'],
  ['events.project.completed', '`project.completed` is sent when a project was marked done.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 6'],
  ['events.project.archived', '`project.archived` is sent when a project was archived.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 6'],
  ['events.project.deleted', '`project.deleted` is sent when a project was removed for good.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 6'],
  ['events.comment.created', '`comment.created` is sent when a comment was posted.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 6'],
  ['events.comment.updated', '`comment.updated` is sent when a comment was edited.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 6'],
  ['events.comment.deleted', '`comment.deleted` is sent when a comment was removed.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 6'],
  ['events.endpoint.test', '`endpoint.test` is sent when `POST /api/webhooks/{id}/test` was called.', 'services/webhook-dispatcher/src/store/enqueue.ts', 'Specification 6'],
  ['events.source.every-client', 'Every change counts, whichever client made it.', 'services/webhook-dispatcher/src/enqueue/enqueue.ts', 'Specification 1'],
  ['events.source.never-skipped', 'Events are read from the log: none is skipped, none is sent out of order.', 'services/webhook-dispatcher/src/enqueue/enqueue.ts', 'Specification 1'],
  ['events.filter.empty-is-all', 'An endpoint with empty `eventTypes` receives every type.', 'services/webhook-dispatcher/src/store/enqueue.ts', 'Specification 6'],
  ['events.filter.list', 'An endpoint with a list receives only those types, plus `endpoint.test`.', 'services/webhook-dispatcher/src/store/enqueue.ts', 'Specification 6'],
  ['events.filter.private-projects', 'Tasks inside a private project are not published to workspace-level endpoints.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 6'],
  ['events.body.fields', 'An event has `id`, `type`, `createdAt`, `apiVersion`, `workspaceId`, `syncActionId` and `data` with `object` and `changes`.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 2'],
  ['events.body.same-id', 'An event has the same `id` on every retry and for every endpoint.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 2'],
  ['events.body.sync-action-id', '`syncActionId` is the position in the sync log as a string, or null.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 2'],
  ['events.body.object', '`data.object` is the full record after the change; before it for `*.deleted`.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 2'],
  ['events.body.changes', '`data.changes` names the fields whose value differs; it is empty on creates, deletes and tests.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 2'],
  ['events.body.dates', 'Date-only fields are `YYYY-MM-DD`; timestamps are ISO 8601 UTC.', 'services/webhook-dispatcher/src/domain/event.ts', 'Specification 2'],
];
