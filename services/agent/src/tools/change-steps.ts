import { NameError, tasksOf } from '@wts/client/names';
import { changeTasks, type TaskChangeKind } from './change-tasks.ts';
import { namesOfChanges } from '../graph/changes.ts';
import { AGENT_LIMITS } from '../limits.ts';
import { RESULTS, resultsView } from '../views/results.ts';
import { changesOf, outcomesOf } from './batch.ts';
import { object, TASK_WORD, WORKSPACE } from '../views/parts.ts';
import { tool, type Effect, type Tool } from './tool.ts';

interface Step {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly effect: Effect;
  readonly kind: TaskChangeKind;
}

/** A tool that does the same with each of several tasks. */
function stepTool({ kind, ...definition }: Step): Tool {
  return tool({
    ...definition,
    input: object(
      {
        tasks: {
          type: 'array',
          minItems: 1,
          maxItems: AGENT_LIMITS.batchMax,
          items: TASK_WORD,
          description: 'Keys such as ACME-12, numbers or ids.',
        },
        workspace: WORKSPACE,
      },
      ['tasks'],
    ),
    output: object(RESULTS),
    run: async ({ tasks, workspace }, context) => {
      const refs = await tasksOf(tasks, workspace, context.names);
      const changes = await changesOf(refs, async (ref) => {
        if (ref instanceof NameError) throw ref;
        return { id: ref.id };
      });
      const made = await changeTasks(context.graph, kind, changes.valid, {
        nameOf: namesOfChanges(kind, undefined, tasks),
      });
      return resultsView(outcomesOf(tasks.length, changes, made));
    },
  });
}

export const completeTasks = stepTool({
  name: 'complete_tasks',
  title: 'Complete tasks',
  description:
    'Marks tasks as done. A task that is done stays so. Of a task that repeats, the next one is created, which `note` names. Example: {"tasks": ["ACME-12", "ACME-13"]}',
  effect: 'sets',
  kind: 'taskComplete',
});

export const reopenTasks = stepTool({
  name: 'reopen_tasks',
  title: 'Reopen tasks',
  description: 'Makes done tasks open again. Example: {"tasks": ["ACME-12"]}',
  effect: 'sets',
  kind: 'taskReopen',
});

export const archiveTasks = stepTool({
  name: 'archive_tasks',
  title: 'Move tasks to the Trash',
  description:
    'Moves tasks to the Trash, where lists no longer show them. They are deleted for good some weeks later, in most installations after 30 days; until then restore_tasks brings them back. Use complete_tasks for work that is done. Example: {"tasks": ["ACME-12"]}',
  effect: 'removes',
  kind: 'taskArchive',
});

export const restoreTasks = stepTool({
  name: 'restore_tasks',
  title: 'Restore tasks from the Trash',
  description:
    'Brings tasks back from the Trash, as they were: same project, number and labels. find_tasks with {"state": "archived"} lists the Trash. A task in the Trash cannot be changed before it is restored. Example: {"tasks": ["ACME-12"]}',
  effect: 'sets',
  kind: 'taskUnarchive',
});
