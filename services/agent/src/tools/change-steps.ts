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
export function stepTool({ kind, ...definition }: Step): Tool {
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
