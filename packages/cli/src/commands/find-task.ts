import { taskOf, type TaskRef } from '@wts/client/names';
import type { Call } from '../call.ts';
import { CliFault } from '../fault.ts';
import { keyOf, type TaskNode } from '../records/task.ts';
import { pagesOf } from './pages.ts';
import { isId } from './pick.ts';

type Found = Pick<TaskNode, 'id' | 'number' | 'title'> & {
  readonly workspaceId: string;
  readonly workspace: TaskNode['workspace'];
};

const FOUND = 'id number title workspaceId workspace { id urlKey name }';
const BY_TITLE = `query CliTasksByTitle($filter: TaskFilter!, $words: String!, $within: TaskFilter!) {
  exact: tasks(first: 6, filter: $filter) { nodes { ${FOUND} } }
  like: tasks(first: 6, filter: $within, search: $words) { nodes { ${FOUND} } }
}`;
const IDS = `query CliTaskIds($within: TaskFilter!, $first: Int!, $after: String) {
  page: tasks(filter: $within, first: $first, after: $after, includeArchived: true) { nodes { ${FOUND} } pageInfo { hasNextPage endCursor } }
}`;
/** A prefix is looked for among so many of the newest tasks, because the service compares whole ids only. */
const SCANNED_MAX = 1_000;

const NUMBER = /^#?\d{1,9}$/;
/** The last part of an address that names a task by its id or its key. */
const ADDRESS = /^[a-z][a-z+.-]*:\/\/[^?#]*\/([^/?#]+)\/?(?:[?#].*)?$/i;
const ID_PREFIX = /^[0-9a-f-]{4,35}$/i;

/** The task that a word names: a key, a number, an id, the beginning of an id, an address, or a title that only one task has. Keeps cli.names.task. */
export async function findTask(given: string, call: Call): Promise<TaskRef> {
  const { session } = call;
  const { names: openNames, workspace: chosen, workspaceOrAll } = await session();
  const names = await openNames();
  const word = (ADDRESS.exec(given.trim())?.[1] ?? given).trim();
  // A key and an id name a task in any workspace.
  if (NUMBER.test(word)) return taskOf(word, (await chosen()).id, names);
  if (isExactWord(word)) return taskOf(word, undefined, names);
  const workspace = await workspaceOrAll();
  const within = workspace === null ? {} : { workspaceId: { eq: workspace.id } };
  const found = await byTitle(word, within, call);
  if (found.length === 0 && ID_PREFIX.test(word)) return one(await byPrefix(word.toLowerCase(), within, call), word);
  return one(found, word);
}

/** A key, a number or an id: it names one task or none. */
export function isExactWord(word: string): boolean {
  const isKey = word.lastIndexOf('-') > 0 && NUMBER.test(word.slice(word.lastIndexOf('-') + 1));
  return isKey || NUMBER.test(word) || isId(word);
}

async function byTitle(words: string, within: object, { session, signal }: Call): Promise<readonly Found[]> {
  const { api } = await session();
  const filter = { and: [within, { title: { eqIgnoreCase: words } }] };
  type Answer = Readonly<Record<'exact' | 'like', { readonly nodes: readonly Found[] }>>;
  const { exact, like } = await api.graphql<Answer>(
    BY_TITLE,
    { filter, words: words.slice(0, 200), within },
    { signal },
  );
  return exact.nodes.length > 0 ? exact.nodes : like.nodes;
}

async function byPrefix(prefix: string, within: object, call: Call): Promise<readonly Found[]> {
  const { rows } = await pagesOf<Found>(call, IDS, { within }, SCANNED_MAX);
  return rows.filter(({ id }) => id.startsWith(prefix));
}

function one(found: readonly Found[], word: string): TaskRef {
  const [task, ...others] = found;
  if (task === undefined)
    throw new CliFault('not-found', `No task is named ${JSON.stringify(word)}.`, {
      hint: 'wts search finds tasks by words.',
    });
  if (others.length === 0) return { id: task.id, workspaceId: task.workspaceId, key: keyOf(task) };
  const shown = found.slice(0, 5).map((each) => `  ${keyOf(each)}  ${each.title}`);
  const more = found.length > 5 ? '\n  and more' : '';
  throw new CliFault(
    'refused',
    `${JSON.stringify(word)} may be any of these. Use the key.\n${shown.join('\n')}${more}`,
    {
      code: 'ambiguous',
    },
  );
}
