// Compiled against the installed package: every comment "@ts-expect-error" is over a line that must not compile.
import { SyncClient, verifyWebhook } from '@wts/client';
import { createApiClient } from '@wts/client/api';
import type { WebhookEndpoint } from '@wts/client/api';
import { NameError, Names, taskOf, tasksOf } from '@wts/client/names';
import type { Change, Project, RecordOf, SyncEvent, Task } from '@wts/client';

const client = new SyncClient({ baseUrl: 'https://api.example.com', token: async () => 'token' });
const at = { modelId: 'x' } as const;

const made: Change = { ...at, modelName: 'Task', action: 'INSERT', payload: { workspaceId: 'w', title: 'New' } };
const marked: Change<'Task'> = { ...at, modelName: 'Task', action: 'UPDATE', payload: { addedLabelIds: ['l'] } };
const { results, mutations } = await client.mutate([made, marked, { ...at, modelName: 'Comment', action: 'DELETE' }]);
const [first] = results;
if (first?.success === false) first.error satisfies string;
// @ts-expect-error: an accepted change has no error
if (first?.success === true) first.error;
for (const one of mutations) if (one.modelName === 'Task') one.record satisfies Task;

// @ts-expect-error: no such action
await client.mutate([{ ...at, modelName: 'Task', action: 'ERASE' }]);
// @ts-expect-error: a new task needs a title
await client.mutate([{ ...at, modelName: 'Task', action: 'INSERT', payload: { workspaceId: 'w' } }]);
// @ts-expect-error: the title is a text
await client.mutate([{ ...at, modelName: 'Task', action: 'UPDATE', payload: { title: 1 } }]);
// @ts-expect-error: the server counts the number
await client.mutate([{ ...at, modelName: 'Task', action: 'UPDATE', payload: { number: 1 } }]);
// @ts-expect-error: the workspace of a task is set on creation
await client.mutate([{ ...at, modelName: 'Task', action: 'UPDATE', payload: { workspaceId: 'w' } }]);
// @ts-expect-error: only the service makes workspaces
await client.mutate([{ ...at, modelName: 'Workspace', action: 'INSERT', payload: { name: 'New', urlKey: 'new' } }]);

function received(event: SyncEvent): void {
  if (event.type === 'records')
    for (const record of event.records) if (record.__class === 'Project') record satisfies Project;
  if (event.type !== 'delta') return;
  for (const entry of event.actions) {
    if (entry.modelName !== 'Task') continue;
    if (entry.action === 'INSERT') entry.data satisfies RecordOf<'Task'>;
    if (entry.action === 'UPDATE') entry.data.title satisfies string | undefined;
    if (entry.action === 'ARCHIVE') entry.data.archivedAt satisfies string | null;
    // @ts-expect-error: a deleted record has no data
    if (entry.action === 'DELETE') entry.data.title satisfies string;
  }
}
for await (const event of client.follow()) received(event);

const event = await verifyWebhook('whsec_x', new Headers(), new Uint8Array());
if (event.type === 'task.created') event.data.object.title satisfies string;
if (event.type === 'comment.created') event.data.object.body satisfies string;
// @ts-expect-error: the body was parsed
await verifyWebhook('whsec_x', new Headers(), { id: 'x' });

const listedBy = { workspace: 'w', project: 'p', team: 't', label: 'l', person: 'm', task: 'f' };
const run = async <Data,>(query: string): Promise<Data> => JSON.parse(query) as Data;
const names = new Names({ run, userId: 'u', listedBy });
(await names.project('WEB', await names.workspaceOrAll('acme'))) satisfies string;
(await taskOf('ACME-12', undefined, names)).workspaceId satisfies string;
for (const found of await tasksOf(['ACME-12'], undefined, names))
  if (found instanceof NameError) found.candidates.map(({ id }) => id) satisfies string[];
  else found.key satisfies string;
// @ts-expect-error: the texts of errors need what lists each kind
new Names({ run, userId: 'u', listedBy: { workspace: 'w' } });

const api = createApiClient({ baseUrl: 'https://api.example.com', token: 'token' });
const hook = await api.createWebhookEndpoint({ url: 'https://example.com/', workspaceId: 'w' }, { deadlineMs: 1_000 });
hook.secret satisfies string;
hook.endpoint satisfies WebhookEndpoint;
hook.endpoint.disabledReason satisfies 'consecutive_failures' | 'gone' | null;
(await api.listWorkspaces()).workspaces.map(({ urlKey }) => urlKey) satisfies string[];
(await api.graphql<{ viewer: { id: string } }>('{ viewer { id } }')).viewer.id satisfies string;
new Names({ run: api.graphql, userId: 'u', listedBy });
// @ts-expect-error: an endpoint needs a workspace
await api.createWebhookEndpoint({ url: 'https://example.com/' });
// @ts-expect-error: no such event type
await api.updateWebhookEndpoint({ id: 'x', eventTypes: ['task.painted'] });
// @ts-expect-error: no operation is named so
await api.createEverything();
