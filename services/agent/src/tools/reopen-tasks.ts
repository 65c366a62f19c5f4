import { stepTool } from './change-steps.ts';

export const reopenTasks = stepTool({
  name: 'reopen_tasks',
  title: 'Reopen tasks',
  description: 'Makes done tasks open again. Example: {"tasks": ["ACME-12"]}',
  effect: 'sets',
  kind: 'taskReopen',
});
