/** What operators do with people. Keeps operator.cli. */
import { open } from 'node:fs/promises';
import type { Call } from '../call.ts';
import { CliFault, usageFault } from '../fault.ts';
import { agoColumn, type View } from '../output/view.ts';
import { openOperator, type OperatorApi } from '../session/operator.ts';
import { confirmTyped } from './ask.ts';
import { allPages, warnOfAway, type OfCells } from './admin-pages.ts';
import { isId, pick } from './pick.ts';

interface Person {
  readonly userId: string;
  readonly name: string;
  readonly email: string | null;
  readonly createdAt: string;
  readonly disabledAt: string | null;
  readonly erasedAt: string | null;
  readonly lastSeenAt: string | null;
  readonly workspaces: number;
}

interface PersonDetail extends Person, OfCells {
  readonly account: { readonly email: string; readonly emailVerified: boolean } | null;
  readonly secondFactors: readonly { readonly name: string }[];
  readonly identities: readonly { readonly issuer: string; readonly subject: string }[];
  readonly memberships: readonly { readonly name: string; readonly urlKey: string; readonly role: string }[];
  readonly sessions: readonly { readonly browser: string | null; readonly lastNetwork: string | null }[];
  readonly keys: readonly { readonly label: string; readonly keyPrefix: string }[];
  readonly apps: readonly { readonly clientName: string | null }[];
}

interface Link {
  readonly url: string;
  readonly expiresAt: string;
}

const stateOf = ({ disabledAt, erasedAt }: Person): string =>
  erasedAt !== null ? 'erased' : disabledAt !== null ? 'disabled' : '';

const VIEW: View<Person> = {
  nouns: ['person', 'people'],
  id: ({ userId }) => userId,
  columns: [
    { title: 'NAME', value: ({ name }) => name, isCut: true },
    { title: 'E-MAIL', value: ({ email }) => email, isCut: true },
    { title: 'STATE', value: stateOf },
    { title: 'WORKSPACES', value: ({ workspaces }) => workspaces, isRight: true },
    agoColumn('LAST SEEN', ({ lastSeenAt }) => lastSeenAt),
    { title: 'ID', value: ({ userId }) => userId, style: () => 'dim' },
  ],
};

export async function list(call: Call): Promise<void> {
  await call.output.list(await allPages(call, 'people', VIEW), VIEW);
}

export async function show(call: Call): Promise<void> {
  const person = await personOf(await openOperator(call), call.words.join(' '));
  const { name, email, userId, createdAt, lastSeenAt, account, identities, memberships, sessions, keys, apps } = person;
  const lines = (all: readonly string[]): string => all.join(', ');
  await call.output.record(person, userId, [
    { title: 'Name', value: name, isHeading: true },
    { title: 'E-mail', value: email },
    { title: 'State', value: stateOf(person) || 'works' },
    {
      title: 'Account',
      value: account === null ? '' : `${account.email}, ${account.emailVerified ? 'verified' : 'not verified'}`,
    },
    { title: 'Second factors', value: lines(person.secondFactors.map((one) => one.name)) },
    { title: 'Signs in by', value: lines(identities.map(({ issuer, subject }) => `${issuer} ${subject}`)) },
    { title: 'Workspaces', value: lines(memberships.map((one) => `${one.name} (${one.urlKey}): ${one.role}`)) },
    {
      title: 'Sessions',
      value: lines(sessions.map((one) => `${one.browser ?? 'a browser'}, ${one.lastNetwork ?? 'unknown network'}`)),
    },
    { title: 'API keys', value: lines(keys.map(({ label, keyPrefix }) => `${keyPrefix}… ${label}`)) },
    { title: 'Apps', value: lines(apps.map(({ clientName }) => clientName ?? 'without a name')) },
    { title: 'Last seen', value: lastSeenAt },
    { title: 'Created', value: createdAt },
    { title: 'Id', value: userId },
  ]);
  await warnOfAway(call.output, person);
}

export async function addOwner(call: Call): Promise<void> {
  const { words, options, output } = call;
  const [name, workspaceName, urlKey] = ['name', 'workspaceName', 'key'].map((option) => options.text(option));
  if (name === undefined || workspaceName === undefined || urlKey === undefined)
    throw usageFault('Name the owner and the workspace: --name, --workspace-name and --key.');
  const operator = await openOperator(call);
  const made = await operator.post<{ userId: string; workspaceId: string; link: Link }>('/owners', {
    email: words[0],
    name,
    workspaceName,
    urlKey,
  });
  const { userId, workspaceId, link } = made;
  await printLink(call, { userId, workspaceId, link }, link, `${name} owns ${workspaceName}.`);
  await output.note(`Workspace ${workspaceId}, person ${userId}.`);
}

export async function resetLink(call: Call): Promise<void> {
  const operator = await openOperator(call);
  const { userId, name } = await personOf(operator, call.words.join(' '));
  const { link } = await operator.post<{ link: Link }>(`/people/${userId}/reset-link`);
  await printLink(call, link, link, `A new password for ${name}.`);
}

/** Alone on stdout, so that a script can pass it on. */
async function printLink({ output }: Call, row: object, { url, expiresAt }: Link, about: string): Promise<void> {
  await output.note(`${about} The link works once, until ${expiresAt}. Give it to them alone:`);
  if (output.isJson) return output.record(row, url, []);
  await output.text(`${url}\n`);
}

export const disable = (call: Call): Promise<void> => change(call, 'Disabled', 'post', 'disabling');
export const enable = (call: Call): Promise<void> => change(call, 'Enabled', 'post', 'enabling');
export const removeFactors = (call: Call): Promise<void> =>
  change(call, 'Removed the second factors of', 'delete', 'second-factors');
export const endSessions = (call: Call): Promise<void> => change(call, 'Signed out', 'delete', 'sessions');

async function change(call: Call, verb: string, method: 'post' | 'delete', act: string): Promise<void> {
  const operator = await openOperator(call);
  const { userId } = await personOf(operator, call.words.join(' '));
  const { person } = await operator[method]<{ person: PersonDetail }>(`/people/${userId}/${act}`);
  const { name } = person;
  await call.output.changed(person, { id: person.userId, key: name, line: `${verb} ${name}` });
}

export async function exportData(call: Call): Promise<void> {
  const operator = await openOperator(call);
  const { userId, name } = await personOf(operator, call.words.join(' '));
  const { body } = await operator.download(`/people/${userId}/export`);
  const to = call.options.text('to');
  // `wx`: an export replaces no file, and no other person reads it.
  await using file = to === undefined ? null : await open(to, 'wx', 0o600);
  let end = '';
  const decoder = new TextDecoder();
  for await (const bytes of body ?? []) {
    const text = decoder.decode(bytes as Uint8Array, { stream: true });
    end = (end + text).slice(-200);
    await (file === null ? call.output.text(text) : file.writeFile(text));
  }
  if (!/\{"type":"end","lines":\d+\}\n$/.test(end))
    throw new CliFault('failed', 'The export is not whole: the connection ended before its last line.');
  if (to !== undefined) await call.output.note(`Wrote what is stored of ${name} to ${to}.`);
}

export async function erase(call: Call): Promise<void> {
  const operator = await openOperator(call);
  const { userId, name, email } = await personOf(operator, call.words.join(' '));
  const who = email === null ? name : `${name} <${email}>`;
  await confirmTyped(call, `Erase ${who} for good? This cannot be undone.`, name);
  const { stays } = await operator.post<{ stays: readonly string[] }>(`/people/${userId}/erasure`, { name });
  await call.output.record({ stays }, userId, [
    { title: 'Erased', value: who, isHeading: true },
    { title: 'What stays', value: stays.map((sentence) => `- ${sentence}`).join('\n'), isText: true },
  ]);
}

/** By an id, else by all of a name or an address before a part of one. */
export async function personOf(operator: OperatorApi, word: string): Promise<PersonDetail> {
  const find = async (): Promise<string> => {
    const { people } = await operator.get<{ people: readonly Person[] }>('/people', { text: word, limit: 100 });
    const rows = people.map((person) => ({ ...person, id: person.userId }));
    return pick(word, rows, {
      nouns: ['person', 'people'],
      isExact: ({ name, email }, text) => [name, email].some((one) => one?.toLowerCase() === text),
      isNear: () => true,
      shown: ({ name, email }) => `${name} <${email ?? ''}>`,
      listedBy: 'wts admin person list shows the people',
    }).id;
  };
  const userId = isId(word) ? word : await find();
  return (await operator.get<{ person: PersonDetail }>(`/people/${userId}`)).person;
}
