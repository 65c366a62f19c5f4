import { NameError, type Names, type WorkspaceRef } from '@wts/client/names';
import { todayIn } from '@wts/models/words';
import type { Call } from '../call.ts';
import { usageFault } from '../fault.ts';
import { dayText } from '../output/times.ts';
import { priorityWord } from '../records/task.ts';
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
  const { input, project, labels } = await inputOf(quick, names, workspace);
  if (!options.flag('dryRun')) return createTask(call, { ...input, workspaceId: workspace.id });
  const { look } = call.output;
  const day = (value: string | null): string => (value === null ? '' : dayText(value, look));
  const { deadlineAt, startDate } = input as { readonly deadlineAt?: string; readonly startDate?: string };
  await call.output.record({ ...input, workspaceId: workspace.id }, '', [
    { title: 'Title', value: quick.title },
    { title: 'Project', value: project },
    { title: 'Labels', value: labels.join(', ') },
    { title: 'Assignee', value: quick.people[0] },
    { title: 'Priority', value: quick.priority === null ? '' : priorityWord(quick.priority) },
    { title: 'Starts', value: startDate, shown: day(startDate ?? null) },
    { title: 'Due', value: deadlineAt, shown: day(deadlineAt ?? null) },
    { title: 'Repeats', value: quick.repeat?.rule },
    { title: 'Workspace', value: workspace.name },
  ]);
  await call.output.note('Nothing was created.');
}

async function inputOf(
  { title, tags, people, priority, deadlineAt, startDate, repeat }: QuickWords,
  names: Names,
  workspace: WorkspaceRef,
): Promise<{ readonly input: object; readonly project: string | null; readonly labels: readonly string[] }> {
  const projects: { readonly id: string; readonly name: string }[] = [];
  const labels: { readonly id: string; readonly name: string }[] = [];
  for (const name of tags) {
    const project = projects.length === 0 ? await unlessUnknown(names.project(name, workspace)) : null;
    if (project !== null) projects.push({ id: project, name });
    else labels.push({ id: await names.label(name, workspace), name });
  }
  const [person] = people;
  const isDayless = deadlineAt === null && startDate === null;
  const due = deadlineAt ?? (repeat?.from === 'date' && isDayless ? repeat.firstDay : null);
  const input = {
    title,
    projectId: projects[0]?.id,
    labelIds: labels.length === 0 ? undefined : labels.map(({ id }) => id),
    assigneeId: person === undefined ? undefined : await names.person(person, workspace),
    priority: priority ?? undefined,
    deadlineAt: due ?? undefined,
    startDate: startDate ?? undefined,
    repeatRule: repeat?.rule,
    repeatFrom: repeat?.from,
  };
  return {
    input: Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)),
    project: projects[0]?.name ?? null,
    labels: labels.map(({ name }) => name),
  };
}

/** A word that may name several projects is refused; one that names none may be a label. */
async function unlessUnknown(finding: Promise<string>): Promise<string | null> {
  try {
    return await finding;
  } catch (error) {
    if (error instanceof NameError && error.candidates.length === 0) return null;
    throw error;
  }
}
