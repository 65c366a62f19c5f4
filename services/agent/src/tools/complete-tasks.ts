import { stepTool } from './change-steps.ts';

export const completeTasks = stepTool({
  name: 'complete_tasks',
  title: 'Complete tasks',
  description:
    'Marks tasks as done. A task that is done stays so. Of a task that repeats, the next one is created, which `note` names. Example: {"tasks": ["ACME-12", "ACME-13"]}',
  effect: 'sets',
  kind: 'taskComplete',
});
