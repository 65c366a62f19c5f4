import type { Call } from '../call.ts';
import { usageFault } from '../fault.ts';
import { CHANGED, changedTask, type TaskNode } from '../records/task.ts';
import { TASK_FIELD_NAMES, taskSelection } from '../records/fields.ts';
import { change } from './changes.ts';
import { editedText, isAtTerminal } from './editor.ts';
import { repeatInputOf } from './repeat-input.ts';
import { taskInputOf } from './task-input.ts';

export async function add(call: Call): Promise<void> {
  const { words, options, session } = call;
  const typed = words.join(' ').trim();
  if (typed === '' && !isAtTerminal(call))
    throw usageFault('A task needs a title.', 'Such as: wts task add "Write the report" --due friday');
  const workspace = await (await session()).workspace();
  const input = { ...(await taskInputOf(call, workspace)), ...repeatInputOf(options.text('repeat'), call) };
  const texts = typed === '' ? await editedTask(call) : { title: typed };
  return createTask(call, { ...texts, ...input, workspaceId: workspace.id });
}

/** Also for quick words. */
export async function createTask(call: Call, input: object): Promise<void> {
  const { output } = call;
  const selection = taskSelection(output.isJson ? output.fields(TASK_FIELD_NAMES) : CHANGED);
  const { record } = await change<TaskNode>(call, { model: 'Task', verb: 'Create', selection }, { input });
  await output.changed(record, changedTask('Created', output.look)(record));
}

/** A title in the first line, and below it the description. */
export async function editedTask(
  call: Call,
  before: { readonly title: string; readonly description: string | null } = { title: '', description: null },
): Promise<{ readonly title: string; readonly description: string | null }> {
  const text = await editedText(call, `${before.title}\n\n${before.description ?? ''}`, 'task.md');
  const [title = '', ...lines] = text.trim().split('\n');
  if (title.trim() === '') throw usageFault('Cancelled: there is no title.');
  const description = lines.join('\n').trim();
  return { title: title.trim(), description: description === '' ? null : description };
}
