import { taskKey } from '@wts/client/names';
import type { TypeOf } from '@wts/contracts';
import { count, list, object, text } from './parts.ts';
import { ToolError } from '../tool-error.ts';
import { TASK, taskView, type NextTask, type TaskNode } from './task.ts';

/** Results of changes of several tasks, one for each in the order of the call. */
export const RESULTS = {
  results: list(
    object(
      {
        index: { ...count, description: 'Its place in the call, from 0.' },
        ok: { type: 'boolean' },
        task: TASK,
        hiddenBy: {
          ...text,
          description: 'The id of an archived project: the task is restored, but hidden with its project.',
        },
        note: { ...text, description: 'What the change does to the series of a task that repeats.' },
        error: object({ code: text, message: text }),
      },
      ['index', 'ok'],
    ),
  ),
  succeeded: count,
  failed: count,
} as const;

type ResultView = TypeOf<typeof RESULTS.results>[number];

/** A task after its change; `hiddenBy` is the archived project that hides it, `next` the one after it in its series. */
export type ChangedTask = TaskNode & { readonly hiddenBy?: string | null; readonly next?: NextTask | null };

export function resultsView(outcomes: readonly (ChangedTask | ToolError)[]): {
  results: ResultView[];
  succeeded: number;
  failed: number;
} {
  const results = outcomes.map((outcome, index): ResultView => {
    if (!(outcome instanceof ToolError)) {
      const { hiddenBy, next, ...node } = outcome;
      const more = { ...(typeof hiddenBy === 'string' ? { hiddenBy } : {}), ...noteOf(node, next ?? null) };
      return { index, ok: true, task: taskView(node), ...more };
    }
    const { code, message } = outcome;
    return { index, ok: false, error: { code, message } };
  });
  const succeeded = results.filter(({ ok }) => ok).length;
  return { results, succeeded, failed: results.length - succeeded };
}

function noteOf({ archivedAt, repeatRule }: TaskNode, next: NextTask | null): { readonly note?: string } {
  if (next !== null) {
    const key = taskKey(next.workspace?.urlKey ?? '', next.number);
    return { note: `The next one of its series is ${key}, for ${next.startDate ?? next.deadlineAt}.` };
  }
  if (archivedAt === null || repeatRule === null) return {};
  return { note: 'It repeats: its series pauses until it is restored, and ends when it is deleted.' };
}
