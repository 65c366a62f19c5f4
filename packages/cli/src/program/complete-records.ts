import { isId } from '../commands/pick.ts';
import type { Io } from '../io.ts';
import { Options } from '../options.ts';
import { Output } from '../output/output.ts';
import { CacheFile } from '../session/cache-file.ts';
import type { Session } from '../session/session.ts';
import type { Completes } from './spec.ts';

export interface Candidate {
  readonly value: string;
  readonly about: string;
}

type Kind = Exclude<Completes, 'topic' | 'profile'>;

/** A person who presses the key waits for the answer. */
const BUDGET_MS = 300;
/** Names of this age are shown without asking the service, and older ones where it does not answer in time. */
const FRESH_MS = 30_000;

interface Source {
  readonly query: string;
  readonly read: (data: never) => readonly Candidate[];
}

interface Keyed {
  readonly key: string;
  readonly name: string;
}

interface Nodes<Row> {
  readonly page: { readonly nodes: readonly Row[] };
}

const inWorkspace = (list: string, type: string, rest: string): string =>
  `query CliComplete($filter: ${type}Filter) { page: ${list}(first: 100, filter: $filter${rest} }`;

const SOURCES: Readonly<Record<Kind, Source>> = {
  task: {
    query: inWorkspace('tasks', 'Task', ') { nodes { number title workspace { urlKey } } }'),
    read: ({ page }: Nodes<{ number: number; title: string; workspace: { urlKey: string } | null }>) =>
      page.nodes.map(({ number, title, workspace }) => ({
        value: `${workspace?.urlKey.toUpperCase() ?? ''}-${number}`,
        about: title,
      })),
  },
  project: {
    query: inWorkspace('projects', 'Project', ', orderBy: [{name: ASC}]) { nodes { key name } }'),
    read: ({ page }: Nodes<Keyed>) => page.nodes.map(({ key, name }) => ({ value: key, about: name })),
  },
  team: {
    query: inWorkspace('teams', 'Team', ', orderBy: [{name: ASC}]) { nodes { key name } }'),
    read: ({ page }: Nodes<Keyed>) => page.nodes.map(({ key, name }) => ({ value: key, about: name })),
  },
  label: {
    query: inWorkspace('labels', 'Label', ', orderBy: [{name: ASC}]) { nodes { name } }'),
    read: ({ page }: Nodes<{ name: string }>) => page.nodes.map(({ name }) => ({ value: name, about: '' })),
  },
  person: {
    query: inWorkspace('members', 'WorkspaceMember', ') { nodes { user { name email username } } }'),
    read: ({ page }: Nodes<{ user: { name: string; email: string | null; username: string | null } | null }>) => [
      { value: 'me', about: 'You' },
      ...page.nodes.flatMap(({ user }) =>
        user === null ? [] : [{ value: user.username ?? user.email ?? user.name, about: user.name }],
      ),
    ],
  },
  workspace: {
    query: 'query CliComplete { page: myWorkspaces { urlKey name } }',
    read: ({ page }: { readonly page: readonly { urlKey: string; name: string }[] }) =>
      page.map(({ urlKey, name }) => ({ value: urlKey, about: name })),
  },
};

/** Names of records of the chosen workspace: from the service, and where it is slow, from the last time. */
export async function recordsOf(kind: Kind, before: readonly string[], io: Io): Promise<readonly Candidate[]> {
  const { openSession } = await import('../session/session.ts');
  const options = new Options(optionsIn(before), ['workspace', 'profile']);
  const session = await openSession({ io, options, output: new Output(['--quiet'], io) });
  // Another credential sees other records.
  const of = [session.server.url, session.token.value, session.settings.workspace?.value ?? '', kind];
  const cache = new CacheFile<readonly Candidate[]>(io, 'complete', of);
  const kept = await cache.read();
  if (kept !== null && kept.ageMs < FRESH_MS) return kept.value;
  const signal = AbortSignal.timeout(BUDGET_MS);
  const reading = read(kind, session, signal).then(async (candidates) => {
    await cache.write(candidates);
    return candidates;
  });
  const late = new Promise<readonly Candidate[]>((resolve) => {
    signal.addEventListener('abort', () => resolve(kept?.value ?? []), { once: true });
  });
  return Promise.race([reading.catch(() => kept?.value ?? []), late]);
}

/** One request, because each takes a part of the budget: the filter finds the workspace by its word. */
async function read(kind: Kind, { api, settings }: Session, signal: AbortSignal): Promise<readonly Candidate[]> {
  const { query, read: readNodes } = SOURCES[kind];
  const word = settings.workspace?.value;
  const of = isId(word ?? '')
    ? { workspaceId: { eq: word } }
    : { workspace: { or: [{ urlKey: { eqIgnoreCase: word } }, { name: { eqIgnoreCase: word } }] } };
  const conditions = [
    ...(word === undefined ? [] : [of]),
    ...(kind === 'task' ? [{ completedAt: { null: true } }] : []),
  ];
  const variables = kind === 'workspace' ? {} : { filter: { and: conditions } };
  return readNodes(await api.graphql<never>(query, variables, { signal }));
}

/** The two options that say where to look. */
function optionsIn(before: readonly string[]): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const [at, token] of before.entries()) {
    const [flag = '', value = before[at + 1]] = token.split(/=(.*)/s);
    if ((flag === '-w' || flag === '--workspace') && value !== undefined) values['workspace'] = value;
    if (flag === '--profile' && value !== undefined) values['profile'] = value;
  }
  return values;
}
