/** What operators do with workspaces, and the figures of the installation. */
import type { Call } from '../call.ts';
import type { View } from '../output/view.ts';
import { openOperator, type OperatorApi } from '../session/operator.ts';
import { allPages, warnOfAway, type OfCells } from './admin-pages.ts';
import { personOf } from './admin-person.ts';
import { confirmTyped } from './ask.ts';
import { pick } from './pick.ts';
import { changed } from './workspace.ts';

interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly urlKey: string;
  readonly members: number;
  readonly owners: readonly { readonly name: string }[];
  readonly createdAt: string;
  readonly archivedAt: string | null;
  /** Of an installation of several cells. */
  readonly cell?: number;
}

const VIEW: View<Workspace> = {
  nouns: ['workspace', 'workspaces'],
  id: ({ id }) => id,
  columns: [
    { title: 'KEY', value: ({ urlKey }) => urlKey, style: () => 'cyan' },
    { title: 'NAME', value: ({ name }) => name, isCut: true },
    { title: 'STATE', value: ({ archivedAt }) => (archivedAt === null ? '' : 'deleted') },
    { title: 'MEMBERS', value: ({ members }) => members, isRight: true },
    { title: 'OWNERS', value: ({ owners }) => owners.map(({ name }) => name).join(', '), isCut: true },
    { title: 'ID', value: ({ id }) => id, style: () => 'dim' },
  ],
};

export async function list(call: Call): Promise<void> {
  const workspaces = await allPages(call, 'workspaces', VIEW);
  const columns: typeof VIEW.columns = [
    ...VIEW.columns,
    { title: 'CELL', value: ({ cell }) => cell ?? null, isRight: true },
  ];
  await call.output.list(workspaces, workspaces.some(({ cell }) => cell !== undefined) ? { ...VIEW, columns } : VIEW);
}

export async function remove(call: Call): Promise<void> {
  const operator = await openOperator(call);
  const { id, name, urlKey, members } = await workspaceOf(operator, call.words.join(' '));
  const question = `Delete ${name} with everything in it, which ${members} people use? For 7 days it can be restored.`;
  await confirmTyped(call, question, urlKey);
  const { workspace } = await operator.post<{ workspace: Workspace }>(`/workspaces/${id}/deletion`, { urlKey });
  await call.output.changed(workspace, changed('Deleted', workspace));
}

export async function restore(call: Call): Promise<void> {
  const operator = await openOperator(call);
  const { id } = await workspaceOf(operator, call.words.join(' '));
  const { workspace } = await operator.post<{ workspace: Workspace }>(`/workspaces/${id}/restoration`);
  await call.output.changed(workspace, changed('Restored', workspace));
}

export async function addOwner(call: Call): Promise<void> {
  const [named = '', ...person] = call.words;
  const operator = await openOperator(call);
  const { id } = await workspaceOf(operator, named);
  const { userId, name } = await personOf(operator, person.join(' '));
  const { workspace } = await operator.post<{ workspace: Workspace }>(`/workspaces/${id}/owners`, { userId });
  await call.output.changed(workspace, changed(`${name} owns`, workspace));
}

interface Usage extends OfCells {
  readonly people: number;
  readonly peopleDisabled: number;
  readonly peopleActive: number;
  readonly workspaces: number;
  readonly workspacesDeleted: number;
  readonly tasks: number;
  readonly databaseBytes: number;
}

export async function usage(call: Call): Promise<void> {
  const { usage: found } = await (await openOperator(call)).get<{ usage: Usage }>('/usage');
  const { databaseBytes } = found;
  await call.output.record(found, 'usage', [
    { title: 'People', value: found.people },
    { title: 'Disabled', value: found.peopleDisabled },
    { title: 'Active in 30 days', value: found.peopleActive },
    { title: 'Workspaces', value: found.workspaces },
    { title: 'Deleted workspaces', value: found.workspacesDeleted },
    { title: 'Tasks', value: found.tasks },
    { title: 'Database', value: databaseBytes, shown: `${(databaseBytes / 1e6).toFixed(0)} MB` },
  ]);
  await warnOfAway(call.output, found);
}

/** By a part of its name, its key or its id. */
export async function workspaceOf(operator: OperatorApi, word: string): Promise<Workspace> {
  type Found = OfCells & { readonly workspaces: readonly Workspace[] };
  const { workspaces, away = [] } = await operator.get<Found>('/workspaces', { text: word, limit: 100 });
  const elsewhere = away.length === 0 ? '' : `, but not those at ${away.join(', ')}, which did not answer`;
  return pick(word, workspaces, {
    nouns: ['workspace', 'workspaces'],
    isExact: ({ id, name, urlKey }, text) => [id, urlKey, name.toLowerCase()].includes(text),
    isNear: () => true,
    shown: ({ name, urlKey }) => `${name} (${urlKey})`,
    listedBy: `wts admin workspace list shows the workspaces${elsewhere}`,
  });
}
