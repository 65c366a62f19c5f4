import { object, TASK_WORD, WORKSPACE } from '../views/parts.ts';
import { DETAILS, detailsOf } from '../views/task-details.ts';
import { taskOf } from '@wts/client/names';
import { tool } from './tool.ts';

export const getTask = tool({
  name: 'get_task',
  title: 'Show a task',
  description:
    'Shows one task with its description, the first 100 items of its checklist, and how many items and comments it has. list_comments shows the comments. Example: {"task": "ACME-12"}',
  effect: 'reads',
  input: object({ task: TASK_WORD, workspace: WORKSPACE }, ['task']),
  output: DETAILS,
  run: async ({ task, workspace }, context) => {
    const { id } = await taskOf(task, workspace, context.names);
    return detailsOf(id, context.graph);
  },
});
