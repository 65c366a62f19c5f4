import type { Call } from '../call.ts';
import { dayOf, todayIn } from '@wts/models/words';
import { usageFault } from '../fault.ts';
import { dayText } from '../output/times.ts';
import { dayColumn, shownBy } from '../output/view.ts';
import { given } from '../options.ts';
import { PROJECT_FIELDS } from '../records/fields.ts';
import { actionsOf, findNoun, type NamedRow, type Noun } from './nouns.ts';
import { readText } from './texts.ts';
import { orNull, slugOf } from './words.ts';

interface ProjectRow extends NamedRow {
  readonly key: string;
  readonly workspaceId: string;
  readonly status: string;
  readonly description: string | null;
  readonly isPrivate: boolean;
  readonly lead: { readonly name: string } | null;
  readonly team: { readonly key: string; readonly name: string } | null;
  readonly startDate: string | null;
  readonly targetDate: string | null;
}

const PROJECT: Noun<ProjectRow> = {
  model: 'Project',
  plural: 'projects',
  fields: PROJECT_FIELDS,
  view: {
    nouns: ['project', 'projects'],
    id: ({ id }) => id,
    columns: [
      { title: 'KEY', value: ({ key }) => key, style: () => 'cyan' },
      { title: 'NAME', value: ({ name }) => name, isCut: true },
      { title: 'STATUS', value: ({ status }) => status },
      { title: 'LEAD', value: ({ lead }) => lead?.name, isCut: true },
      { title: 'TEAM', value: ({ team }) => team?.key },
      dayColumn('TARGET', ({ targetDate }) => targetDate),
      {
        title: 'PRIVATE',
        value: ({ isPrivate }) => String(isPrivate),
        shown: ({ isPrivate }) => (isPrivate ? 'private' : ''),
      },
    ],
  },
  details: (row, { output: { look } }) => [
    { title: 'Name', isHeading: true, value: row.name, shown: `${row.key}  ${row.name}` },
    { title: 'Status', value: row.status },
    { title: 'Lead', value: row.lead?.name },
    { title: 'Team', value: row.team?.key, shown: row.team?.name ?? '' },
    { title: 'Starts', value: row.startDate, shown: shownBy(dayText, row.startDate, look) },
    { title: 'Target', value: row.targetDate, shown: shownBy(dayText, row.targetDate, look) },
    { title: 'Private', value: String(row.isPrivate), shown: row.isPrivate ? 'only its members see it' : '' },
    { title: 'Archived', value: row.archivedAt },
    { title: 'Id', value: row.id },
    { title: 'Description', value: row.description, isText: true },
  ],
  filterOf: async ({ options }, names, workspace) => {
    const [status, team] = [options.text('status'), options.text('team')];
    return [
      ...(status === undefined ? [] : [{ status: { eq: status } }]),
      ...(team === undefined ? [] : [{ teamId: { eq: await names.team(team, workspace) } }]),
    ];
  },
  inputOf: async ({ options, io, session }, workspace) => {
    const names = await (await session()).names();
    const today = todayIn(io.timezone, io.now());
    return given({
      key: options.text('key'),
      description: await readText(options.text('description'), io),
      status: options.text('status'),
      leadId: await orNull(options.text('lead'), (word) => names.person(word, workspace)),
      teamId: await orNull(options.text('team'), (word) => names.team(word, workspace)),
      startDate: await orNull(options.text('start'), (word) => dayOf(word, today)),
      targetDate: await orNull(options.text('target'), (word) => dayOf(word, today)),
      isPrivate: options.flag('private') ? true : options.flag('public') ? false : undefined,
    });
  },
  find: (names, word, workspace) => names.project(word, workspace),
};

/** Without a key, one is made of the name: `Web site` becomes `WEB-SITE`. */
const ADDED: typeof PROJECT = {
  ...PROJECT,
  inputOf: async (call, workspace) => {
    const key = slugOf(call.words.join(' ')).toUpperCase();
    const input = { key: key.slice(0, 32), ...(await PROJECT.inputOf(call, workspace)) };
    if (input.key === '') throw usageFault('No key can be made of this name.', 'Give one: --key WEB');
    return input;
  },
};

export const { list, show, edit, done, reopen, archive, restore, remove } = actionsOf(PROJECT);
export const { add } = actionsOf(ADDED);

/** The people of a private project. */
export async function members(call: Call): Promise<void> {
  const { api, names: openNames, workspace: openWorkspace } = await call.session();
  const { id: projectId, name } = await findNoun(call, PROJECT, call.words[0] ?? '');
  const [names, workspace] = [await openNames(), await openWorkspace()];
  const at = { workspaceId: workspace.id, projectId };
  const [added, removed] = [call.options.text('add'), call.options.text('remove')];
  if (added !== undefined) await api.addPrivateProjectMember({ ...at, userId: await names.person(added, workspace) });
  if (removed !== undefined)
    await api.removePrivateProjectMember({ ...at, userId: await names.person(removed, workspace) });
  const rows = [];
  for (let after: string | undefined; ; after = rows.at(-1)?.userId) {
    const page = await api.listPrivateProjectMembers({ ...at, limit: 500, ...given({ after }) });
    rows.push(...page.members);
    if (!page.hasMore) break;
  }
  await call.output.list(rows, {
    nouns: ['member', `members of ${name}`],
    id: ({ userId }) => userId,
    columns: [
      { title: 'NAME', value: (member) => member.name, isCut: true },
      { title: 'E-MAIL', value: ({ email }) => email, isCut: true },
      { title: 'ROLE', value: ({ role }) => role },
      { title: 'ID', value: ({ userId }) => userId },
    ],
  });
}
