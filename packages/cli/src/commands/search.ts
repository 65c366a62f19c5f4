import { taskKey } from '@wts/client/names';
import type { Call } from '../call.ts';
import type { View } from '../output/view.ts';

interface Hit {
  readonly score: number;
  readonly record: {
    readonly __typename: string;
    readonly id: string;
    readonly name?: string;
    readonly key?: string;
    readonly title?: string;
    readonly body?: string;
    readonly number?: number;
    readonly workspace?: { readonly urlKey: string } | null;
    readonly task?: {
      readonly number: number;
      readonly title: string;
      readonly workspace: { readonly urlKey: string } | null;
    } | null;
  };
}

const SEARCH = `query CliSearch($query: String!, $first: Int!, $workspaceId: ID, $types: [SearchType!], $includeArchived: Boolean!) {
  search(query: $query, first: $first, workspaceId: $workspaceId, types: $types, includeArchived: $includeArchived) {
    hits {
      score
      record {
        __typename
        id
        ... on Task { number title workspace { urlKey } }
        ... on Project { key name }
        ... on Label { name }
        ... on Team { key name }
        ... on User { name }
        ... on Workspace { urlKey name }
        ... on Comment { body task { number title workspace { urlKey } } }
      }
    }
  }
}`;

const VIEW: View<Hit> = {
  nouns: ['result', 'results'],
  id: ({ record }) => record.id,
  columns: [
    { title: 'KIND', value: ({ record }) => record.__typename.toLowerCase() },
    { title: 'KEY', value: ({ record }) => keyOf(record), style: () => 'cyan' },
    { title: 'TEXT', value: ({ record }) => record.title ?? record.body ?? record.name, isCut: true },
    { title: 'ID', value: ({ record }) => record.id, style: () => 'dim', shown: () => '' },
  ],
};

function keyOf({ number, workspace, task, key }: Hit['record']): string {
  const of = task ?? { number, workspace };
  return of.number === undefined ? (key ?? '') : taskKey(of.workspace?.urlKey ?? '', of.number);
}

export async function search({ words, options, session, output, signal }: Call): Promise<void> {
  const { api, workspaceOrAll } = await session();
  const workspace = await workspaceOrAll();
  const types = options.list('type').map((type) => `${type.charAt(0).toUpperCase()}${type.slice(1)}`);
  const variables = {
    query: words.join(' ').slice(0, 200),
    first: options.number('limit', { min: 1, max: 100 }) ?? 20,
    workspaceId: workspace?.id ?? null,
    types: types.length === 0 ? null : types,
    includeArchived: options.flag('archived'),
  };
  const { hits } = (await api.graphql<{ search: { readonly hits: readonly Hit[] } }>(SEARCH, variables, { signal }))
    .search;
  await output.list(hits, VIEW);
}
