import type { TypeOf } from '@wts/contracts';
import { document, type Graph } from '../graph/graph.ts';
import { ToolError } from '../tool-error.ts';
import { count, list, object, text, textOrNull } from './parts.ts';
import { TASK, TASK_FRAGMENT, taskView, type TaskNode } from './task.ts';

const TASK_QUERY = document<
  {
    task:
      | (TaskNode & {
          readonly checklist: {
            readonly totalCount: number;
            readonly nodes: readonly { id: string; title: string; completedAt: string | null }[];
          };
          readonly comments: { readonly totalCount: number };
        })
      | null;
  },
  { id: string }
>(
  `query AgentTask($id: ID!) {
  task(id: $id) {
    ...TaskFields
    description
    checklist(first: 100, orderBy: {sortOrder: ASC}) { totalCount nodes { id title completedAt } }
    comments(first: 1) { totalCount }
  }
}`,
  TASK_FRAGMENT,
);

const CHECKLIST = list(object({ id: text, title: text, completedAt: textOrNull }));
/** The checklist has its first hundred items; `checklistCount` says how many there are. */
export const DETAILS = object({ task: TASK, checklist: CHECKLIST, checklistCount: count, commentCount: count });

/** A task with everything in it but its comments. */
export type TaskDetails = TypeOf<typeof DETAILS>;

export async function detailsOf(id: string, graph: Graph): Promise<TaskDetails> {
  const { task } = await graph.run(TASK_QUERY, { id });
  if (task === null) throw new ToolError('not_found', 'This task does not exist, or the person may not see it.');
  const { checklist, comments, ...node } = task;
  return {
    task: taskView(node),
    checklist: checklist.nodes,
    checklistCount: checklist.totalCount,
    commentCount: comments.totalCount,
  };
}
