import { document } from '../graph/graph.ts';
import { COMMENT, COMMENT_FRAGMENT, type CommentNode } from '../views/comment.ts';
import { taskOf } from '@wts/client/names';
import type { Page, PageVariables } from '../views/parts.ts';
import { list, NEXT, nextOf, object, PAGE, PAGE_INFO, pageOf, TASK_WORD, text, WORKSPACE } from '../views/parts.ts';
import { tool } from './tool.ts';

const COMMENTS = document<Page<CommentNode>, PageVariables>(
  `query AgentListComments($filter: CommentFilter, $first: Int!, $after: String) {
  found: comments(filter: $filter, first: $first, after: $after, orderBy: {createdAt: ASC}) {
    nodes { ...CommentFields }
    ${PAGE_INFO}
  }
}`,
  COMMENT_FRAGMENT,
);

export const listComments = tool({
  name: 'list_comments',
  title: 'List comments',
  description: 'Lists the comments on a task, the oldest first. Example: {"task": "ACME-12"}',
  effect: 'reads',
  input: object({ task: TASK_WORD, workspace: WORKSPACE, ...PAGE }, ['task']),
  output: object({ taskKey: text, comments: list(COMMENT), ...NEXT }),
  run: async (args, context) => {
    const { id, key } = await taskOf(args.task, args.workspace, context.names);
    const { found } = await context.graph.run(COMMENTS, { filter: { taskId: { eq: id } }, ...pageOf(args) });
    return { taskKey: key, comments: found.nodes, ...nextOf(found.pageInfo) };
  },
});
