import { stepTool } from './change-steps.ts';

export const completeTasks = stepTool({
  name: 'complete_tasks',
  title: 'Complete tasks',
  description:
    'Marks tasks as done. A task that is done stays so. The next occurrence of a repeating task is created by the server. Example: {"tasks": ["ACME-12", "ACME-13"]}',
  effect: 'sets',
  kind: 'taskComplete',
});
