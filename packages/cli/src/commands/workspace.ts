import type { Workspace } from '@wts/client/api';
import type { WorkspaceRef } from '@wts/client/names';
import type { Call } from '../call.ts';
import { CliFault, usageFault } from '../fault.ts';
import { counted } from '../output/counted.ts';
import type { ChangedRecord } from '../output/output.ts';
import { agoColumn, type View } from '../output/view.ts';
import { useWorkspace } from '../session/profiles.ts';
import { writeProjectFile } from '../session/project-file.ts';
import { confirm, confirmTyped } from './ask.ts';
import { isId } from './pick.ts';
import { slugOf } from './words.ts';

const VIEW: View<Workspace> = {
  nouns: ['workspace', 'workspaces'],
  id: ({ id }) => id,
  columns: [
    { title: 'KEY', value: ({ urlKey }) => urlKey, style: () => 'cyan' },
    { title: 'NAME', value: ({ name }) => name, isCut: true },
    { title: 'ROLE', value: ({ role }) => role },
    { title: 'ID', value: ({ id }) => id, style: () => 'dim' },
  ],
};

type Named = Pick<Workspace, 'id' | 'name' | 'urlKey'>;

/** How a workspace is shown that a command changed. */
export function changed(verb: string, { id, name, urlKey }: Named): ChangedRecord {
  return { id, key: urlKey, line: `${verb} ${name} (${urlKey})` };
}

/** Of a service with several addresses: those of each, with where it is. One that does not answer is named. */
export async function list({ session, output, signal }: Call): Promise<void> {
  const { api, at } = await session();
  const { workspaces, elsewhere } = await api.listWorkspaces({}, { signal });
  if (elsewhere === undefined) return output.list(workspaces, VIEW);
  const others = await Promise.allSettled(elsewhere.map(async (url) => at(url).listWorkspaces({}, { signal })));
  const more = others.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value.workspaces : []));
  const columns: typeof VIEW.columns = [
    ...VIEW.columns,
    { title: 'AT', value: ({ baseUrl }) => baseUrl ?? null, style: () => 'dim' },
  ];
  await output.list([...workspaces, ...more], { ...VIEW, columns });
  const away = elsewhere.filter((_, at) => others[at]?.status === 'rejected');
  if (away.length > 0) await output.warn(`No answer from ${away.join(', ')}: workspaces there are missing.`);
}

export async function create({ words, options, session, output, signal }: Call): Promise<void> {
  const name = words.join(' ');
  const urlKey = options.text('key') ?? slugOf(name);
  if (urlKey === '') throw usageFault('No key can be made of this name.', 'Give one: --key acme');
  const { api } = await session();
  const { workspace } = await api.createWorkspace({ name, urlKey }, { signal });
  await output.changed(workspace, changed('Created', workspace));
  await output.note(`To make it the one of commands that name none: wts workspace use ${urlKey}`);
}

/** In the profile, or in the file `.wts` of this folder: where there is no profile, or with `--here`. */
export async function use(call: Call): Promise<void> {
  const { words, options, io, session, output } = call;
  const { names, settings } = await session();
  const workspace = await (await names()).workspace(words[0]);
  const profile = options.flag('here') ? null : settings.profile;
  if (profile !== null) await useWorkspace(io, profile.value, workspace.urlKey);
  const where =
    profile === null ? await writeProjectFile(io, { workspace: workspace.urlKey }) : `profile ${profile.value}`;
  const { id, name, urlKey } = workspace;
  const line = `Commands that name no workspace use ${name} (${urlKey}) from now on: ${where}`;
  await output.changed(workspace, { id, key: urlKey, line });
}

export async function members(call: Call): Promise<void> {
  const { options, session, output, signal } = call;
  const { api, workspace: open } = await session();
  const workspace = await open();
  const [removed, role] = [options.text('remove'), options.text('role')];
  if (removed !== undefined) await removeMember(call, workspace, removed);
  if (role !== undefined) await changeRole(call, workspace, role);
  const { members: rows } = await api.listMembers({ workspaceId: workspace.id }, { signal });
  await output.list(rows, {
    nouns: ['member', 'members'],
    id: ({ userId }) => userId,
    columns: [
      { title: 'NAME', value: ({ name }) => name, isCut: true },
      { title: 'E-MAIL', value: ({ email }) => email, isCut: true },
      { title: 'ROLE', value: (member) => member.role },
      agoColumn('JOINED', ({ joinedAt }) => joinedAt),
      { title: 'ID', value: ({ userId }) => userId, style: () => 'dim' },
    ],
  });
}

async function removeMember(call: Call, workspace: WorkspaceRef, word: string): Promise<void> {
  const { api, names } = await call.session();
  const userId = await (await names()).person(word, workspace);
  await confirm(call, `Remove ${word} from ${workspace.name}?`);
  const { openInvitations } = await api.removeMember({ workspaceId: workspace.id, userId }, { signal: call.signal });
  if (openInvitations.length > 0)
    await call.output.note(
      `People with their codes can still use ${counted(openInvitations.length, 'open invitation')}: wts workspace invite --list`,
    );
}

const ROLES = ['owner', 'admin', 'member', 'guest'];

/** `ana=admin`. */
async function changeRole(call: Call, workspace: WorkspaceRef, given: string): Promise<void> {
  const at = given.lastIndexOf('=');
  const [word, role] = [given.slice(0, at), given.slice(at + 1)];
  if (at <= 0 || !ROLES.includes(role)) throw usageFault(`--role takes name=role, with ${ROLES.join(', ')}.`);
  const { api, names, sync } = await call.session();
  const userId = await (await names()).person(word, workspace);
  type Found = { readonly members: { readonly nodes: readonly { readonly id: string }[] } };
  const query =
    'query CliMember($workspaceId: ID!, $userId: ID!) { members(filter: {workspaceId: {eq: $workspaceId}, userId: {eq: $userId}}) { nodes { id } } }';
  const [member] = (await api.graphql<Found>(query, { workspaceId: workspace.id, userId })).members.nodes;
  if (member === undefined) throw new CliFault('not-found', `${word} is no member of ${workspace.name}.`);
  const payload = { role: role as 'owner' };
  await (
    await sync()
  ).mutateOrThrow([{ modelName: 'WorkspaceMember', modelId: member.id, action: 'UPDATE', payload }], {
    signal: call.signal,
  });
}

export async function join({ words, session, output, signal }: Call): Promise<void> {
  const { api } = await session();
  const { workspace } = await api.joinWorkspace({ code: words[0] ?? '' }, { signal });
  await output.changed(workspace, changed('Joined', workspace));
}

export async function leave(call: Call): Promise<void> {
  const { session, output, signal, words } = call;
  const { api, names, viewer } = await session();
  const [{ id: userId }, workspace] = [await viewer(), await (await names()).workspace(words[0])];
  await confirm(call, `Leave ${workspace.name}?`);
  await api.removeMember({ workspaceId: workspace.id, userId }, { signal });
  await output.changed(workspace, { id: workspace.id, key: workspace.urlKey, line: `Left ${workspace.name}` });
}

/** A deleted workspace can be restored for some days. */
export async function remove(call: Call): Promise<void> {
  const { session, output, signal, words, options } = call;
  const { api, names } = await session();
  const { id: workspaceId, urlKey, name } = await (await names()).workspace(words[0]);
  if (options.flag('dryRun'))
    return output.text(`Would delete ${name} (${urlKey}), which can be restored for 7 days.\n`);
  await confirmTyped(
    call,
    `Delete ${name} with everything in it? For 7 days wts workspace restore brings it back.`,
    urlKey,
  );
  const { workspace } = await api.deleteWorkspace({ workspaceId, urlKey }, { signal });
  await output.changed(workspace, changed('Deleted', workspace));
}

/** By its key or its id, because lists leave deleted ones out. */
export async function restore({ session, output, signal, words }: Call): Promise<void> {
  const { api } = await session();
  const [word = ''] = words;
  const query = 'query CliDeleted($urlKey: String!) { found: workspaceByUrlKey(urlKey: $urlKey) { id } }';
  const found = isId(word)
    ? { id: word }
    : (await api.graphql<{ found: { id: string } | null }>(query, { urlKey: word.toLowerCase() })).found;
  if (found === null)
    throw new CliFault(
      'not-found',
      `There is no workspace with the key ${JSON.stringify(word)}, or it cannot be restored any more.`,
    );
  const { workspace } = await api.restoreWorkspace({ workspaceId: found.id }, { signal });
  await output.changed(workspace, changed('Restored', workspace));
}
