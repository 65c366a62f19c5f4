import { randomUUID } from 'node:crypto';
import type { Call } from '../call.ts';
import { usageFault } from '../fault.ts';
import { given } from '../options.ts';
import { TEAM_FIELDS } from '../records/fields.ts';
import { change } from './changes.ts';
import { actionsOf, findNoun, type NamedRow, type Noun } from './nouns.ts';
import { pagesOf } from './pages.ts';
import { readText } from './texts.ts';

interface TeamRow extends NamedRow {
  readonly key: string;
  readonly description: string | null;
}

const TEAM: Noun<TeamRow> = {
  model: 'Team',
  plural: 'teams',
  fields: TEAM_FIELDS,
  view: {
    nouns: ['team', 'teams'],
    id: ({ id }) => id,
    columns: [
      { title: 'KEY', value: ({ key }) => key, style: () => 'cyan' },
      { title: 'NAME', value: ({ name }) => name, isCut: true },
      { title: 'DESCRIPTION', value: ({ description }) => description, isCut: true },
      { title: 'ID', value: ({ id }) => id },
    ],
  },
  details: ({ key, name, id, archivedAt, description }) => [
    { title: 'Name', isHeading: true, value: name, shown: `${key}  ${name}` },
    { title: 'Archived', value: archivedAt },
    { title: 'Id', value: id },
    { title: 'Description', value: description, isText: true },
  ],
  inputOf: async ({ options, io }) =>
    given({ key: options.text('key'), description: await readText(options.text('description'), io) }),
  find: (names, word, workspace) => names.team(word, workspace),
};

const actions = actionsOf(TEAM);
export const { list, show, edit, archive, restore, remove } = actions;

export async function add(call: Call): Promise<void> {
  if (!call.options.has('key')) throw usageFault('A team needs a key.', 'Such as: wts team add "Web site" --key WEB');
  await actions.add(call);
}

interface MemberRow {
  readonly id: string;
  readonly userId: string;
  readonly user: { readonly name: string; readonly email: string | null } | null;
}

const MEMBERS = `query CliTeamMembers($teamId: ID!, $first: Int!, $after: String) {
  page: teamMembers(first: $first, after: $after, filter: {teamId: {eq: $teamId}}) { nodes { id userId user { name email } } pageInfo { hasNextPage endCursor } }
}`;

/** The people of a team. */
export async function members(call: Call): Promise<void> {
  const { options, session, output } = call;
  const { names: openNames, workspace: openWorkspace } = await session();
  const { id: teamId } = await findNoun(call, TEAM, call.words[0] ?? '');
  const [names, workspace] = [await openNames(), await openWorkspace()];
  const [added, removed] = [options.text('add'), options.text('remove')];
  const read = async (): Promise<readonly MemberRow[]> => (await pagesOf<MemberRow>(call, MEMBERS, { teamId })).rows;
  const kind = { model: 'TeamMember', selection: 'id' };
  if (added !== undefined) {
    const input = { id: randomUUID(), teamId, userId: await names.person(added, workspace) };
    await change(call, { ...kind, verb: 'Create' }, { input });
  }
  if (removed !== undefined) {
    const userId = await names.person(removed, workspace);
    const member = (await read()).find((one) => one.userId === userId);
    if (member !== undefined) await change(call, { ...kind, verb: 'Delete' }, { id: member.id });
  }
  await output.list(await read(), {
    nouns: ['member', 'members'],
    id: ({ userId }) => userId,
    columns: [
      { title: 'NAME', value: ({ user }) => user?.name, isCut: true },
      { title: 'E-MAIL', value: ({ user }) => user?.email, isCut: true },
      { title: 'ID', value: ({ userId }) => userId },
    ],
  });
}
