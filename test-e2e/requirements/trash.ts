import type { Rows } from './rule.ts';

/** What happens to archived records, and to deleted workspaces: design 6. */
// prettier-ignore
export const trash: Rows = [
  ['trash.refused', 'A change of an archived record, and of what belongs to a task in the Trash, is refused with `record_archived`; restoring and deleting are not, and neither is moving a task out of a private project by who decides about that project.', 'services/sync/src/rules/archived.ts', 'Design 6'],
  ['trash.restore', 'A restored task has its project, number, place and labels as before; its number was given to no other task, and references to what was deleted meanwhile are cleared.', 'services/sync/src/rules/archived.ts', 'Design 6'],
  ['trash.restore.hidden', 'A task that is restored while its project is archived stays hidden, and the answer names the project as `hiddenBy`.', 'services/graph/src/graphql/write-resolvers.ts', 'Design 6'],
  ['trash.list', 'The Trash lists the archived tasks that the reader sees, the newest first, with who archived each and when it is deleted for good.', 'services/graph/src/store/trash.ts', 'Design 6'],
  ['trash.empty', 'Emptying the Trash needs the number of tasks as a confirmation and deletes those that the caller may delete, at most 1,000 at a time; a task that is restored meanwhile stays.', 'services/graph/src/commands/empty-trash.ts', 'Design 6'],
  ['trash.empty.condition', 'A DELETE with `ifArchivedAt` deletes the record only while it is archived since that time.', 'services/sync/src/rules/archived.ts', 'Design 6'],
  ['trash.purge', 'Tasks that were in the Trash for longer than `TRASH_RETENTION_DAYS`, by the clock of PostgreSQL and since they were last archived, are deleted for good by the client `trash-purge`, with ordinary DELETE entries and webhooks; with 0 none is.', 'services/sync/src/schedule/trash.ts', 'Design 6'],
  ['trash.purge.bounds', 'A purge deletes at most 500 records in one commit, with a share of its own beside the changes of people, and goes on after a crash without deleting twice.', 'services/sync/src/schedule/trash.ts', 'Design 6'],
  ['trash.purge.restored', 'Of a restore and a purge at the same time one succeeds: either the task is restored and stays, or it is deleted and the restore is `not_found`.', 'services/sync/src/rules/purge-step.ts', 'Design 6'],
  ['trash.purge.delays', 'The first purge of a database and one after a lower setting wait a day, and one after more than a day between two rounds waits an hour, each with a message in the log.', 'services/sync/src/store/trash.ts', 'Design 6'],
  ['trash.retention', 'An owner of a workspace may let its tasks stay in the Trash longer than the installation does, and never shorter.', 'services/sync/src/rules/archived.ts', 'Design 6'],
  ['trash.workspace.delete', 'Only its owner deletes a workspace, repeating its `urlKey`, and can restore it for seven days; after that it is deleted for good with everything in it.', 'services/sync/src/rules/archived.ts', 'Design 6'],
  ['trash.workspace.read-only', 'A deleted workspace can be read by its members and changed by none of them, on no replica and by no scheduler: no entry of a change has a position behind the deletion. Only leaving it, removing a member and deleting a webhook endpoint work. It is not among the workspaces of a person, and is found by its `urlKey`.', 'services/sync/src/rules/archived.ts', 'Design 6'],
];
