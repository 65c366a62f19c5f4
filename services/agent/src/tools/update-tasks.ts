import { NameError, tasksOf, type WorkspaceRef } from '@wts/client/names';
import { todayIn } from '@wts/models/words';
import { changeTasks } from './change-tasks.ts';
import { namesOfChanges } from '../graph/changes.ts';
import { AGENT_LIMITS } from '../limits.ts';
import { ToolError } from '../tool-error.ts';
import { RESULTS, resultsView } from '../views/results.ts';
import { changesOf, outcomesOf } from './batch.ts';
import { object, TASK_WORD, text, TIMEZONE, WORKSPACE } from '../views/parts.ts';
import { LABEL_CHANGES, SKIP, TASK_INPUT, taskInputOf } from './task-input.ts';
import { tool } from './tool.ts';

export const updateTasks = tool({
  name: 'update_tasks',
  title: 'Update tasks',
  description: [
    `Changes up to ${AGENT_LIMITS.batchMax} tasks. Each item names a task and the fields to change; other fields stay as they are, and null removes a value. Each has its own result.`,
    'To mark tasks as done use complete_tasks, to remove them archive_tasks.',
    'Example: {"tasks": [{"task": "ACME-12", "deadlineAt": "tomorrow", "assignee": null}, {"task": "ACME-13", "addLabels": ["urgent"]}]}',
  ].join('\n'),
  effect: 'sets',
  input: object(
    {
      tasks: {
        type: 'array',
        minItems: 1,
        maxItems: AGENT_LIMITS.batchMax,
        items: { ...object({ task: TASK_WORD, ...TASK_INPUT, ...LABEL_CHANGES, ...SKIP }, ['task']), minProperties: 2 },
      },
      workspace: WORKSPACE,
      timezone: TIMEZONE,
    },
    ['tasks'],
  ),
  output: object({ ...RESULTS, today: text, timezone: text }),
  run: async ({ tasks, workspace, timezone }, { graph, names, now }) => {
    const today = todayIn(timezone, now());
    const refs = await tasksOf(
      tasks.map(({ task }) => task),
      workspace,
      names,
    );
    const workspaces = new Map((await names.workspaces()).map((one): [string, WorkspaceRef] => [one.id, one]));
    const changes = await changesOf(tasks, async (words, index) => {
      const ref = refs[index] as (typeof refs)[number];
      if (ref instanceof NameError) throw ref;
      const ofTask = workspaces.get(ref.workspaceId);
      if (ofTask === undefined)
        throw new ToolError('not_found', 'The person has just left the workspace of this task.');
      return { id: ref.id, input: await taskInputOf(words, { names, workspace: ofTask, today }) };
    });
    const made = await changeTasks(graph, 'taskUpdate', changes.valid, {
      nameOf: namesOfChanges('update_tasks', undefined, tasks),
    });
    return { ...resultsView(outcomesOf(tasks.length, changes, made)), today: today.day, timezone: today.timezone };
  },
});
