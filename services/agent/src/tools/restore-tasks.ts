import { stepTool } from './change-steps.ts';

export const restoreTasks = stepTool({
  name: 'restore_tasks',
  title: 'Restore tasks from the Trash',
  description:
    'Brings tasks back from the Trash, as they were: same project, number and labels. find_tasks with {"state": "archived"} lists the Trash. A task in the Trash cannot be changed before it is restored. Example: {"tasks": ["ACME-12"]}',
  effect: 'sets',
  kind: 'taskUnarchive',
});
