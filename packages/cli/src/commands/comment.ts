import type { Call } from '../call.ts';
import { usageFault } from '../fault.ts';
import { agoColumn, type View } from '../output/view.ts';
import { given } from '../options.ts';
import { COMMENT_FIELDS, selectionOf } from '../records/fields.ts';
import { confirm } from './ask.ts';
import { change } from './changes.ts';
import { editedText, isAtTerminal } from './editor.ts';
import { findTask } from './find-task.ts';
import { limitOf, pagesOf } from './pages.ts';
import { readText } from './texts.ts';

interface CommentRow {
  readonly id: string;
  readonly body: string;
  readonly createdAt: string;
  readonly author: { readonly name: string } | null;
}

const VIEW: View<CommentRow> = {
  nouns: ['comment', 'comments'],
  id: ({ id }) => id,
  columns: [
    { ...agoColumn('WHEN', ({ createdAt }) => createdAt), style: () => 'dim' },
    { title: 'WHO', value: ({ author }) => author?.name },
    { title: 'TEXT', value: ({ body }) => body, isCut: true },
    { title: 'ID', value: ({ id }) => id, style: () => 'dim' },
  ],
};

const COMMENT = { model: 'Comment', selection: selectionOf(COMMENT_FIELDS) };

export async function list(call: Call): Promise<void> {
  const { id: taskId } = await findTask(call.words[0] ?? '', call);
  const query = `query CliComments($taskId: ID!, $first: Int!, $after: String) {
  page: comments(filter: {taskId: {eq: $taskId}}, first: $first, after: $after, orderBy: [{createdAt: ASC}]) {
    nodes { ${COMMENT.selection} } pageInfo { hasNextPage endCursor }
  }
}`;
  const { rows } = await pagesOf<CommentRow>(call, query, { taskId }, limitOf(call, 100));
  await call.output.list(rows, VIEW);
}

export async function add(call: Call): Promise<void> {
  const [word = '', ...words] = call.words;
  const { id: taskId, workspaceId, key } = await findTask(word, call);
  const body = await textOf(call, words.join(' '));
  const input = given({ taskId, workspaceId, body, parentId: call.options.text('reply') });
  const { record } = await change<CommentRow>(call, { ...COMMENT, verb: 'Create' }, { input });
  await report(call, record, `Commented on ${key}`);
}

export async function edit(call: Call): Promise<void> {
  const [id = '', ...words] = call.words;
  const body = await textOf(call, words.join(' '));
  const { record } = await change<CommentRow>(call, { ...COMMENT, verb: 'Update' }, { id, input: { body } });
  await report(call, record, 'Changed the comment');
}

export async function remove(call: Call): Promise<void> {
  const [id = ''] = call.words;
  if (call.options.flag('dryRun')) return call.output.text(`Would delete the comment ${id}\n`);
  await confirm(call, `Delete the comment ${id} and the replies to it?`);
  const { record } = await change<CommentRow>(call, { ...COMMENT, verb: 'Delete' }, { id });
  await report(call, record, 'Deleted the comment');
}

async function textOf(call: Call, typed: string): Promise<string> {
  if (typed === '' && isAtTerminal(call)) return (await editedText(call, '', 'comment.md')).trim();
  const body = await readText(typed === '' ? '-' : typed, call.io);
  if (body.trim() === '') throw usageFault('A comment needs a text.');
  return body;
}

async function report({ output }: Call, row: CommentRow, line: string): Promise<void> {
  await output.changed(row, { id: row.id, key: row.id, line });
}
