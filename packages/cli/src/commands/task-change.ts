import type { TaskRef, WorkspaceRef } from '@wts/client/names';
import type { Call } from '../call.ts';
import { counted } from '../output/counted.ts';
import { CliFault, usageFault } from '../fault.ts';
import { given } from '../options.ts';
import { exactDayText } from '../output/times.ts';
import { CHANGED, changedTask, keyOf, type TaskNode } from '../records/task.ts';
import { TASK_FIELD_NAMES, taskSelection } from '../records/fields.ts';
import { confirmTyped } from './ask.ts';
import { change, changeMany, resultsOf, throwIfRefused, type Changed, type Outcome } from './changes.ts';
import { isAtTerminal } from './editor.ts';
import { findTask } from './find-task.ts';
import { findTasks } from './find-tasks.ts';
import { repeatInputOf } from './repeat-input.ts';
import { editedTask } from './task-add.ts';
import { taskInputOf } from './task-input.ts';

interface More {
  readonly next?: TaskNode | null;
  readonly hiddenBy?: string | null;
  readonly seriesEnded?: boolean;
}

type Step = Readonly<{ verb: string; past: string; more?: string }>;
type ChangedTask = Changed<TaskNode, More>;

const STEPS = {
  done: { verb: 'Complete', past: 'Done', more: `next { ${taskSelection(CHANGED)} }` },
  reopen: { verb: 'Reopen', past: 'Reopened' },
  trash: { verb: 'Archive', past: 'Moved to the Trash' },
  restore: { verb: 'Unarchive', past: 'Restored', more: 'hiddenBy' },
  skip: { verb: 'Skip', past: 'Skipped' },
  remove: { verb: 'Delete', past: 'Deleted', more: 'seriesEnded' },
  update: { verb: 'Update', past: 'Changed' },
} as const satisfies Readonly<Record<string, Step>>;

const step =
  (of: Step) =>
  async (call: Call): Promise<void> => {
    await report(call, of, await changeFound(call, of, await findTasks(call, call.words)));
  };

export const done = step(STEPS.done);
export const reopen = step(STEPS.reopen);
export const trash = step(STEPS.trash);
export const restore = step(STEPS.restore);
export const skip = step(STEPS.skip);

/** For good: the key is typed, or where there are several, their number. */
export async function remove(call: Call): Promise<void> {
  const found = await findTasks(call, call.words);
  const refs = resultsOf(found);
  if (call.options.flag('dryRun')) {
    for (const { key, id } of refs) await call.output.text(`Would delete ${key} (${id})\n`);
    return throwIfRefused(found);
  }
  const [only] = refs;
  const what = refs.length === 1 ? only?.key : counted(refs.length, 'task');
  const key = refs.length === 1 ? (only?.key ?? '') : String(refs.length);
  if (refs.length > 0)
    await confirmTyped(call, `Delete ${what} with comments and checklists? It cannot be undone; the Trash can.`, key);
  await report(call, STEPS.remove, await changeFound(call, STEPS.remove, found));
}

export async function edit(call: Call): Promise<void> {
  const found = await findTasks(call, call.words);
  const title = call.options.text('title');
  if (title !== undefined && found.length > 1) throw usageFault('--title is for one task.');
  await report(call, STEPS.update, await changeByWorkspace(call, found, (workspace) => inputOf(call, workspace)));
}

async function inputOf(call: Call, workspace: WorkspaceRef): Promise<object> {
  const { options, session } = call;
  const names = await (await session()).names();
  const labels = async (name: string, field: string): Promise<object> => {
    const words = options.list(name);
    return words.length === 0 ? {} : { [field]: await names.labels(words, workspace) };
  };
  const input = {
    ...(await taskInputOf(call, workspace)),
    ...(await labels('addLabel', 'addedLabelIds')),
    ...(await labels('removeLabel', 'removedLabelIds')),
    ...given({ title: options.text('title') }),
  };
  if (Object.keys(input).length > 0) return input;
  if (call.words.length !== 1 || !isAtTerminal(call))
    throw usageFault('Nothing to change was given.', 'wts task edit --help lists the options.');
  const { id } = await findTask(call.words[0] ?? '', call);
  const { api } = await session();
  type Answer = { readonly task: Pick<TaskNode, 'title' | 'description'> | null };
  const { task } = await api.graphql<Answer>('query CliTexts($id: ID!) { task(id: $id) { title description } }', {
    id,
  });
  return editedTask(call, task ?? undefined);
}

/** Another project, or another place in the order of its list. */
export async function move(call: Call): Promise<void> {
  const { options } = call;
  const [before, after, project] = ['before', 'after', 'project'].map((name) => options.text(name));
  if (before === undefined && after === undefined && project === undefined)
    throw usageFault('Say where to: --before or --after a task, or --project.');
  const idOf = async (word: string | undefined): Promise<string | undefined> =>
    word === undefined ? undefined : (await findTask(word, call)).id;
  const place = { before: await idOf(before), after: await idOf(after) };
  const hasPlace = place.before !== undefined || place.after !== undefined;
  const found = await findTasks(call, call.words);
  const names = await (await call.session()).names();
  const changed = await changeByWorkspace(call, found, async (workspace) => ({
    ...(project === undefined
      ? {}
      : { projectId: project.toLowerCase() === 'none' ? null : await names.project(project, workspace) }),
    ...(hasPlace ? { place } : {}),
  }));
  await report(call, { ...STEPS.update, past: 'Moved' }, changed);
}

/** Sets or ends a series. */
export async function repeat(call: Call): Promise<void> {
  const [word = '', ...rule] = call.words;
  const { id } = await findTask(word, call);
  const { api } = await call.session();
  type Answer = { readonly task: Pick<TaskNode, 'startDate' | 'deadlineAt'> | null };
  const { task } = await api.graphql<Answer>('query CliDays($id: ID!) { task(id: $id) { startDate deadlineAt } }', {
    id,
  });
  const input = repeatInputOf(rule.join(' '), call, (task?.startDate ?? task?.deadlineAt ?? null) !== null);
  const selection = taskSelection(call.output.isJson ? call.output.fields(TASK_FIELD_NAMES) : CHANGED);
  const { record } = await change<TaskNode>(call, { model: 'Task', verb: 'Update', selection }, { id, input });
  await call.output.changed(record, changedTask('Changed', call.output.look)(record));
}

/** The input may name records of the workspace of the tasks, so tasks of several workspaces are several changes. */
async function changeByWorkspace(
  call: Call,
  found: readonly Outcome<TaskRef>[],
  inputFor: (workspace: WorkspaceRef) => Promise<object>,
): Promise<Outcome<ChangedTask>[]> {
  const workspaces = await (await (await call.session()).names()).workspaces();
  const outcomes: Outcome<ChangedTask>[] = [];
  const idOf = ({ result }: Outcome<TaskRef>): string | null =>
    result instanceof CliFault ? null : result.workspaceId;
  for (const [workspaceId, some] of Map.groupBy(found, idOf)) {
    const workspace = workspaces.find(({ id }) => id === workspaceId);
    const input = workspace === undefined ? {} : await inputFor(workspace);
    outcomes.push(...(await changeFound(call, STEPS.update, some, input)));
  }
  return outcomes;
}

async function changeFound(
  call: Call,
  { verb, more }: Step,
  found: readonly Outcome<TaskRef>[],
  input?: object,
): Promise<Outcome<ChangedTask>[]> {
  const { output } = call;
  const selection = taskSelection(output.isJson ? output.fields(TASK_FIELD_NAMES) : CHANGED);
  return changeMany<TaskNode, More>(call, { model: 'Task', verb, selection, ...given({ more }) }, found, input);
}

async function report({ output }: Call, { past }: Step, outcomes: readonly Outcome<ChangedTask>[]): Promise<void> {
  const made = resultsOf(outcomes);
  const records = made.map(({ record }) => record);
  if (made.length > 0) await output.changedAll(records, changedTask(past, output.look));
  for (const { record, next, hiddenBy, seriesEnded } of made) {
    if (next) await output.note(`Next ${keyOf(next)} ${next.title}${daysText(next, output.look)}`);
    if (hiddenBy) await output.note(`${keyOf(record)} is in no list until its archived project is restored.`);
    if (seriesEnded === true) await output.note(`The series of ${keyOf(record)} has ended.`);
  }
  throwIfRefused(outcomes);
}

function daysText({ startDate, deadlineAt }: TaskNode, look: Parameters<typeof exactDayText>[1]): string {
  const [starts, due] = [startDate, deadlineAt].map((day) => (day === null ? null : exactDayText(day, look)));
  return [starts && `, starts ${starts}`, due && `, due ${due}`].filter((text) => text !== null).join('');
}
