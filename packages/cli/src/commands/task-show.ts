import type { Call } from '../call.ts';
import { CliFault } from '../fault.ts';
import type { Look } from '../output/look.ts';
import { ago, dayText } from '../output/times.ts';
import { shownBy, type Detail } from '../output/view.ts';
import { keyOf, priorityWord, type TaskNode } from '../records/task.ts';
import { TASK_FIELD_NAMES, taskSelection } from '../records/fields.ts';
import { findTask } from './find-task.ts';

interface WholeTask extends TaskNode {
  readonly checklist: { readonly nodes: readonly { readonly title: string; readonly completedAt: string | null }[] };
  readonly comments: { readonly totalCount: number; readonly nodes: readonly CommentNode[] };
}

interface CommentNode {
  readonly body: string;
  readonly createdAt: string;
  readonly author: { readonly name: string } | null;
}

const MORE = `checklist(first: 100, orderBy: {sortOrder: ASC}) { nodes { id title completedAt } }
comments(first: 20, orderBy: {createdAt: DESC}) { totalCount nodes { id body createdAt author { id name } } }`;

export async function show(call: Call): Promise<void> {
  const { output, session, signal, words } = call;
  const { api } = await session();
  const { id } = await findTask(words[0] ?? '', call);
  const names = output.fields(TASK_FIELD_NAMES);
  const query = `query CliTask($id: ID!) { task(id: $id) { ${taskSelection(names)} ${output.isJson ? '' : MORE} } }`;
  const { task } = await api.graphql<{ task: WholeTask | null }>(query, { id }, { signal });
  if (task === null) throw new CliFault('not-found', 'The task was deleted just now.');
  await output.record(task, id, output.isJson ? [] : detailsOf(task, output.look));
}

function detailsOf(task: WholeTask, look: Look): Detail[] {
  const { title, assignee, project, team, labels, priority, startDate, deadlineAt, completedAt, archivedAt } = task;
  const day = (value: string | null): string => shownBy(dayText, value, look);
  const since = (value: string | null): string => shownBy(ago, value, look);
  const { nodes, totalCount } = task.comments;
  return [
    { title: 'Title', isHeading: true, value: title, shown: `${keyOf(task)}  ${title}` },
    { title: 'Key', value: keyOf(task), shown: '' },
    {
      title: 'State',
      value: stateWord(task),
      shown: stateWord(task),
      style: completedAt === null ? undefined : 'green',
    },
    { title: 'Project', value: project?.key, shown: project?.name ?? '' },
    { title: 'Team', value: team?.key, shown: team?.name ?? '' },
    { title: 'Assignee', value: assignee?.name },
    { title: 'Priority', value: priorityWord(priority), shown: priority === 0 ? '' : priorityWord(priority) },
    { title: 'Labels', value: labels.nodes.map(({ name }) => name).join(', ') },
    { title: 'Starts', value: startDate, shown: day(startDate) },
    { title: 'Due', value: deadlineAt, shown: day(deadlineAt) },
    { title: 'Repeats', value: task.repeatText },
    { title: 'Next', value: task.repeatNextDate, shown: day(task.repeatNextDate) },
    { title: 'Done', value: completedAt, shown: since(completedAt) },
    { title: 'In Trash', value: archivedAt, shown: since(archivedAt) },
    {
      title: 'Created',
      value: task.createdAt,
      shown: `${since(task.createdAt)} by ${task.creator?.name ?? 'someone who left'}`,
    },
    { title: 'Changed', value: task.updatedAt, shown: since(task.updatedAt) },
    { title: 'Id', value: task.id },
    { title: 'Description', value: task.description, isText: true },
    {
      title: 'Checklist',
      value: task.checklist.nodes.map((item) => `[${item.completedAt === null ? ' ' : 'x'}] ${item.title}`).join('\n'),
      isText: true,
    },
    {
      title: nodes.length < totalCount ? `Comments (the newest ${nodes.length} of ${totalCount})` : 'Comments',
      value: nodes
        .toReversed()
        .map(
          ({ author, body, createdAt }) =>
            `${author?.name ?? 'Unknown'}, ${ago(createdAt, look)}:\n${body.replaceAll(/^/gm, '  ')}`,
        )
        .join('\n\n'),
      isText: true,
    },
  ];
}

function stateWord({ completedAt, archivedAt }: TaskNode): string {
  return archivedAt === null ? (completedAt === null ? 'open' : 'done') : 'in the Trash';
}
