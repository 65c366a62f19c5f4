import { stepTool } from './change-steps.ts';

export const archiveTasks = stepTool({
  name: 'archive_tasks',
  title: 'Move tasks to the Trash',
  description:
    'Moves tasks to the Trash, where lists no longer show them. They are deleted for good some weeks later, in most installations after 30 days; until then restore_tasks brings them back. Use complete_tasks for work that is done. Example: {"tasks": ["ACME-12"]}',
  effect: 'removes',
  kind: 'taskArchive',
});
