import { NameError, type Names, type WorkspaceRef } from '@wts/client/names';
import { repeatText, todayIn } from '@wts/models/words';
import type { Call } from '../call.ts';
import { usageFault } from '../fault.ts';
import { given } from '../options.ts';
import { exactDayText } from '../output/times.ts';
import { priorityWord } from '../records/task.ts';
import type { Session } from '../session/session.ts';
import { quickWordsOf, type QuickWords } from './quick-words.ts';
import { createTask } from './task-add.ts';

/** One line of quick words becomes a task. */
export async function quickAdd(call: Call): Promise<void> {
  const { words, options, io, session } = call;
  const quick = quickWordsOf(words.join(' '), todayIn(io.timezone, io.now()));
  if (quick.title === '')
    throw usageFault('A task needs a title.', 'Such as: wts add "Pay rent every 1st #home @ana !2"');
  if (quick.people.length > 1) throw usageFault('A task is for one person.');
  const { names: openNames, workspace: openWorkspace } = await session();
  const [names, workspace] = [await openNames(), await openWorkspace()];
  const input = await inputOf(quick, names, workspace);
  if (!options.flag('dryRun')) return createTask(call, { ...input, workspaceId: workspace.id });
  const { look } = call.output;
  const day = (value: string | undefined): string => (value === undefined ? '' : exactDayText(value, look));
  const { deadlineAt, startDate, projectId = '', labelIds = [], assigneeId = '' } = input;
  const { repeatRule = null, repeatFrom = 'date' } = input;
  const named = await namesOf(await session(), [projectId, ...labelIds, assigneeId]);
  await call.output.record({ ...input, workspaceId: workspace.id }, '', [
    { title: 'Title', value: quick.title },
    { title: 'Project', value: named.get(projectId) },
    { title: 'Labels', value: labelIds.map((id) => named.get(id)).join(', ') },
    { title: 'Assignee', value: named.get(assigneeId) },
    { title: 'Priority', value: quick.priority === null ? '' : priorityWord(quick.priority) },
    { title: 'Starts', value: startDate, shown: day(startDate) },
    { title: 'Due', value: deadlineAt, shown: day(deadlineAt) },
    { title: 'Repeats', value: repeatText({ repeatRule, repeatFrom, repeatAnchor: startDate ?? deadlineAt ?? null }) },
    { title: 'Workspace', value: workspace.name },
  ]);
  await call.output.note('Nothing was created.');
}

const NAMES = `query CliQuickNames($ids: [ID!]!) {
  nodes(ids: $ids) { id ... on Project { name } ... on Label { name } ... on User { name } }
}`;

/** What the found records are called, because a word may be a key or a first name. */
async function namesOf({ api }: Session, all: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const ids = all.filter((id) => id !== '');
  if (ids.length === 0) return new Map();
  type Answer = { readonly nodes: readonly ({ readonly id: string; readonly name: string } | null)[] };
  const { nodes } = await api.graphql<Answer>(NAMES, { ids });
  return new Map(nodes.flatMap((node) => (node === null ? [] : [[node.id, node.name]])));
}

async function inputOf(
  { title, tags, people, priority, deadlineAt, startDate, repeat }: QuickWords,
  names: Names,
  workspace: WorkspaceRef,
) {
  const projects: string[] = [];
  const labels: string[] = [];
  for (const name of tags) {
    const project = projects.length === 0 ? await idOrUnknown(names.project(name, workspace)) : null;
    if (typeof project === 'string') {
      projects.push(project);
      continue;
    }
    const label = await idOrUnknown(names.label(name, workspace));
    if (typeof label !== 'string') throw project === null ? label : neither(project, label);
    labels.push(label);
  }
  const [person] = people;
  const isDayless = deadlineAt === null && startDate === null;
  const due = deadlineAt ?? (repeat?.from === 'date' && isDayless ? repeat.firstDay : null);
  return given({
    title,
    projectId: projects[0],
    labelIds: labels.length === 0 ? undefined : labels,
    assigneeId: person === undefined ? undefined : await names.person(person, workspace),
    priority: priority ?? undefined,
    deadlineAt: due ?? undefined,
    startDate: startDate ?? undefined,
    repeatRule: repeat?.rule,
    repeatFrom: repeat?.from,
  });
}

/** A word that may name several records is refused; of one that names none, the error. */
async function idOrUnknown(finding: Promise<string>): Promise<string | NameError> {
  try {
    return await finding;
  } catch (error) {
    if (error instanceof NameError && error.candidates.length === 0) return error;
    throw error;
  }
}

function neither(...errors: readonly NameError[]): NameError {
  return new NameError('not_found', errors.map(({ message }) => message).join('\n'));
}
