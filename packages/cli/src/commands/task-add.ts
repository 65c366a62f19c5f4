import { randomUUID } from 'node:crypto';
import type { Call } from '../call.ts';
import { usageFault } from '../fault.ts';
import { changedTask, LISTED, type TaskNode } from '../records/task.ts';
import { TASK_FIELD_NAMES, taskSelection } from '../records/task-fields.ts';
import { outcomeOf, type Payload } from './changes.ts';
import { taskInputOf } from './task-input.ts';

export async function add(call: Call): Promise<void> {
  const title = call.words.join(' ').trim();
  if (title === '') throw usageFault('A task needs a title.', 'Such as: wts task add "Write the report" --due friday');
  const { api, workspace } = await call.session();
  const { id: workspaceId } = await workspace();
  const input = { ...(await taskInputOf(call)), workspaceId, title, id: randomUUID() };
  return createTask(call, api, input);
}

async function createTask(
  { output, signal }: Call,
  api: Awaited<ReturnType<Call['session']>>['api'],
  input: object,
): Promise<void> {
  const names = output.isJson ? output.fields(TASK_FIELD_NAMES) : [...LISTED, 'repeatText'];
  // The id is chosen here, so that a repeated request creates nothing twice.
  const mutation = `mutation CliTaskCreate($input: TaskCreateInput!, $clientTxId: String) {
  change: taskCreate(input: $input, clientTxId: $clientTxId, clientId: "wts") {
    task { ${taskSelection(names)} } error { code message }
  }
}`;
  const variables = { input, clientTxId: randomUUID() };
  const { change } = await api.graphql<{ change: Payload & { readonly task: TaskNode | null } }>(mutation, variables, {
    isRepeatable: true,
    signal,
  });
  await output.changed([outcomeOf(change, change.task)], changedTask('Created', output.look));
}
