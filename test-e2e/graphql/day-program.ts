/**
 * The program of a client for a day of work. It is compiled against the generated types and then run, so it is text here. It asserts
 * what it gets, and that its socket gets every change at the position that the change was answered with.
 */
export const DAY_PROGRAM = `
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import * as day from './documents.ts';

const settings = process.env as Record<'BASE_URL' | 'TOKEN' | 'WORKSPACE_ID', string>;
const { BASE_URL: baseUrl, TOKEN: token, WORKSPACE_ID: workspaceId } = settings;

/** One operation; its variables and its result have the types of its document. */
async function run<Result, Variables>(document: TypedDocumentNode<Result, Variables>, variables: Variables): Promise<Result> {
  const reply = await fetch(new URL('/graphql', baseUrl), { method: 'POST',
    headers: { authorization: \`Bearer \${token}\`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: print(document), variables }),
  });
  const { data, errors } = (await reply.json()) as { data: Result; errors?: unknown };
  assert.deepEqual(errors ?? [], [], print(document));
  return data;
}

interface Action { readonly syncId: string; readonly modelName: string; readonly modelId: string; readonly action: string }
const actions: Action[] = [];
const waiting: (() => void)[] = [];

const { text: head } = await fetch(new URL('/sync/deltas', baseUrl), { headers: { authorization: \`Bearer \${token}\` } })
  .then(async (reply) => ({ text: (await reply.json()) as { lastSyncId: string } }));
const socket = new WebSocket(new URL(\`/sync/ws?token=\${token}\`, baseUrl.replace(/^http/, 'ws')));
await new Promise((resolve, reject) => {
  socket.addEventListener('open', resolve, { once: true });
  socket.addEventListener('error', reject, { once: true });
});
await new Promise<void>((resolve) => {
  socket.addEventListener('message', ({ data }) => {
    const frame = JSON.parse(String(data)) as { type: string; packet?: { actions: Action[] } };
    if (frame.type === 'subscribed') resolve();
    actions.push(...(frame.packet?.actions ?? []));
    for (const wake of waiting.splice(0)) wake();
  });
  socket.send(JSON.stringify({ type: 'subscribe', afterSyncId: head.lastSyncId, token }));
});

/** The change arrives on the socket at the position that it was answered with. */
async function live(syncId: string | null | undefined, modelId: string | undefined): Promise<Action> {
  assert.ok(typeof syncId === 'string' && modelId !== undefined);
  const deadline = AbortSignal.timeout(10_000);
  for (;;) {
    const found = actions.find((one) => one.syncId === syncId);
    if (found) {
      assert.equal(found.modelId, modelId);
      return found;
    }
    deadline.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      waiting.push(resolve);
      deadline.addEventListener('abort', () => reject(new Error(\`nothing arrived at \${syncId}\`)), { once: true });
    });
  }
}

const morning = await run(day.MorningDocument, {});
assert.ok(morning.myWorkspaces.some(({ id, viewerRole }) => id === workspaceId && viewerRole === 'member'));

const { projectCreate } = await run(day.MakeProjectDocument, { input: { workspaceId, key: \`D\${randomUUID().slice(0, 6)}\`, name: 'A day of work' },
});
const projectId = projectCreate.project?.id ?? assert.fail(projectCreate.error?.message);
await live(projectCreate.syncId, projectId);
const { labelCreate } = await run(day.MakeLabelDocument, { input: { workspaceId, name: 'Urgent', color: '#ff0000' } });
const labelId = labelCreate.label?.id ?? assert.fail(labelCreate.error?.message);

const taskId = randomUUID();
const word = \`quartz\${randomUUID().slice(0, 8)}\`;
const { taskCreate } = await run(day.MakeTaskDocument, { input: { id: taskId, workspaceId, projectId, title: \`Cut the \${word}\`, deadlineAt: '2026-12-24', assigneeId: morning.viewer.id },
  clientTxId: randomUUID(),
});
assert.equal(taskCreate.task?.id, taskId);
assert.equal(taskCreate.task.assignee?.id, morning.viewer.id);
assert.equal((await live(taskCreate.syncId, taskId)).action, 'INSERT');

const { taskUpdate } = await run(day.ChangeTaskDocument, { id: taskId,
  input: { start: 'started', addedLabelIds: [labelId], priority: 2 },
});
assert.deepEqual(taskUpdate.task?.labelIds, [labelId]);
assert.equal((await live(taskUpdate.syncId, taskId)).action, 'UPDATE');

const { commentCreate } = await run(day.CommentDocument, { input: { workspaceId, taskId, body: 'On it.' } });
// The result reads its own change.
assert.equal(commentCreate.comment?.task?.comments.totalCount, 1);
assert.equal(commentCreate.comment.author?.id, morning.viewer.id);
await live(commentCreate.syncId, commentCreate.comment.id);

const { taskChecklistItemBatchCreate: steps } = await run(day.AddStepsDocument, { inputs: ['Measure', 'Mark', 'Cut'].map((title, index) => ({ workspaceId, taskId, title, sortOrder: \`a\${index}\` })),
});
assert.ok(steps.success);
const [measure, , cut] = steps.results.map(({ taskChecklistItem }) => taskChecklistItem?.id ?? '');
const placed = await run(day.PlaceStepDocument, { id: cut ?? '', place: { after: measure ?? '' } });
assert.ok(placed.taskChecklistItemUpdate.success, placed.taskChecklistItemUpdate.error?.message ?? '');

const { task } = await run(day.OneTaskDocument, { id: taskId });
assert.deepEqual(task?.checklist.nodes.map(({ title }) => title), ['Measure', 'Cut', 'Mark']);
assert.deepEqual(task.comments.nodes.map(({ body }) => body), ['On it.']);

const { taskBatchCreate } = await run(day.PlanDocument, { inputs: Array.from({ length: 6 }, (_, index) => ({ workspaceId, projectId, title: \`Planned \${index}\` })),
});
assert.ok(taskBatchCreate.success);
const planned = taskBatchCreate.tasks.map(({ id }) => id);
const titles: string[] = [];
for (let after: string | null = null; ; ) {
  const { tasks }: day.BoardQuery = await run(day.BoardDocument, { projectId, after });
  assert.equal(tasks.totalCount, 7);
  titles.push(...tasks.nodes.map(({ title }) => title));
  if (tasks.nodes[0]?.id === taskId) assert.deepEqual(tasks.nodes[0].labels.nodes.map(({ name }) => name), ['Urgent']);
  after = tasks.pageInfo.endCursor ?? null;
  if (!tasks.pageInfo.hasNextPage) break;
}
assert.deepEqual(titles, [\`Cut the \${word}\`, ...planned.map((_, index) => \`Planned \${index}\`)]);

const { taskBatchUpdate } = await run(day.PrioritizeDocument, { ids: [...planned.slice(0, 3), randomUUID()], priority: 1 });
assert.deepEqual(taskBatchUpdate.results.map(({ success, error }) => error?.code ?? success), [true, true, true, 'NOT_FOUND']);
for (const [index, { syncId }] of taskBatchUpdate.results.slice(0, 3).entries()) await live(syncId, planned[index]);
const { taskBatchComplete } = await run(day.FinishAllDocument, { ids: planned.slice(0, 3) });
assert.ok(taskBatchComplete.success);
const { tasks: open } = await run(day.BoardDocument, { projectId });
assert.equal(open.totalCount, 4);

const { search } = await run(day.FindDocument, { words: word, workspaceId });
assert.deepEqual(search.nodes.map((node) => ('title' in node ? node.title : node.__typename)), [\`Cut the \${word}\`]);

const { taskComplete } = await run(day.FinishTaskDocument, { id: taskId });
assert.equal(typeof taskComplete.task?.completedAt, 'string');
const { taskReopen } = await run(day.ReopenTaskDocument, { id: taskId });
assert.equal(taskReopen.task?.completedAt, null);
const { taskArchive } = await run(day.TrashTaskDocument, { id: taskId });
assert.equal(typeof taskArchive.task?.archivedAt, 'string');
assert.equal((await live(taskArchive.syncId, taskId)).action, 'ARCHIVE');

const { history } = await run(day.HistoryDocument, { id: taskId });
assert.deepEqual(history.nodes.map(({ action }) => action), ['ARCHIVE', 'UPDATE', 'UPDATE', 'UPDATE', 'INSERT']);
assert.ok(history.nodes.every(({ actor }) => actor?.id === morning.viewer.id));
const number = taskCreate.task.number;
const { taskByNumber } = await run(day.ByNumberDocument, { workspaceId, number });
assert.equal(taskByNumber?.id, taskId);

const positions = actions.map(({ syncId }) => BigInt(syncId));
assert.ok(positions.every((position, index) => index === 0 || position > (positions[index - 1] ?? 0n)));
socket.close();
console.log('the day is done');
`;

/** Lines that the compiler must refuse. */
export const MISTAKES = `
import * as day from './documents.ts';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';

declare function run<Result, Variables>(document: TypedDocumentNode<Result, Variables>, variables: Variables): Promise<Result>;

// @ts-expect-error -- a task needs a title
await run(day.MakeTaskDocument, { input: { workspaceId: 'w' } });
// @ts-expect-error -- there is no such start
await run(day.ChangeTaskDocument, { id: 't', input: { start: 'begun' } });
// @ts-expect-error -- the workspace of a task cannot be changed
await run(day.ChangeTaskDocument, { id: 't', input: { workspaceId: 'w' } });
const { taskComplete } = await run(day.FinishTaskDocument, { id: 't' });
// @ts-expect-error -- a refused change has no task
console.log(taskComplete.task.title);
`;
