import { CLIENT_ID, namesOfChanges, resultOf, type Payload } from '../graph/changes.ts';
import { document } from '../graph/graph.ts';
import { COMMENT, COMMENT_FRAGMENT, type CommentNode } from '../views/comment.ts';
import { taskOf } from '@wts/client/names';
import { IDEMPOTENCY_KEY, object, TASK_WORD, text, WORKSPACE } from '../views/parts.ts';
import { tool } from './tool.ts';

const ADD = document<
  { payload: Payload & { readonly comment: CommentNode | null } },
  { input: object; clientTxId: string; clientId: string }
>(
  `mutation AgentAddComment($input: CommentCreateInput!, $clientTxId: String!, $clientId: String!) {
  payload: commentCreate(input: $input, clientTxId: $clientTxId, clientId: $clientId) {
    comment { ...CommentFields }
    error { code message }
  }
}`,
  COMMENT_FRAGMENT,
);

export const addComment = tool({
  name: 'add_comment',
  title: 'Comment on a task',
  description:
    'Adds a comment in Markdown to a task, in the name of the person. Example: {"task": "ACME-12", "body": "The draft is ready.", "idempotencyKey": "9b1c"}',
  effect: 'adds',
  input: object(
    {
      task: TASK_WORD,
      workspace: WORKSPACE,
      body: { type: 'string', minLength: 1, maxLength: 50_000, description: 'Markdown.' },
      replyTo: { type: 'string', format: 'uuid', description: 'Id of the comment that it answers.' },
      idempotencyKey: IDEMPOTENCY_KEY,
    },
    ['task', 'body'],
  ),
  output: object({ taskKey: text, comment: COMMENT }),
  run: async ({ task, workspace, body, replyTo, idempotencyKey }, context) => {
    const { id: taskId, workspaceId, key } = await taskOf(task, workspace, context.names);
    const input = { taskId, workspaceId, body, ...(replyTo === undefined ? {} : { parentId: replyTo }) };
    const clientTxId = namesOfChanges('add_comment', idempotencyKey, [[workspace, task, body, replyTo]])(0);
    const { payload } = await context.graph.run(ADD, { input, clientTxId, clientId: CLIENT_ID });
    return { taskKey: key, comment: resultOf(payload, payload.comment) };
  },
});
