import { document } from '../graph/graph.ts';
import { FOUND_FRAGMENTS, recordTitle, recordUri, type FoundNode } from '../views/record.ts';
import { AGENT_LIMITS } from '../limits.ts';
import { list, object, PAGE, text, WORKSPACE_FILTER } from '../views/parts.ts';
import { tool } from './tool.ts';

const SEARCH = document<
  { search: { readonly nodes: readonly FoundNode[] } },
  { query: string; first: number; workspaceId: string | null; includeArchived: boolean }
>(
  `query AgentSearch($query: String!, $first: Int!, $workspaceId: ID, $includeArchived: Boolean!) {
  search(query: $query, first: $first, workspaceId: $workspaceId, includeArchived: $includeArchived, types: [Task, Project, Comment]) {
    nodes { __typename id ...FoundTask ...FoundProject ...FoundComment }
  }
}`,
  FOUND_FRAGMENTS,
);

const RESULT = object({
  id: text,
  type: { type: 'string', enum: ['task', 'project', 'comment'] },
  title: text,
  url: text,
});

export const search = tool({
  name: 'search',
  title: 'Search',
  description:
    'Finds tasks, projects and comments by words, the best match first. fetch shows one of them whole; find_tasks is better for filters such as who, when or which project. Example: {"query": "offer for globex"}',
  effect: 'reads',
  input: object(
    {
      query: { type: 'string', minLength: 1, maxLength: 200, description: 'Words to find.' },
      workspace: WORKSPACE_FILTER,
      includeArchived: { type: 'boolean', description: 'Default: false.' },
      limit: PAGE.limit,
    },
    ['query'],
  ),
  output: object({ results: list(RESULT) }),
  run: async ({ query, workspace: word, includeArchived = false, limit }, { graph, names }) => {
    const workspaceId = (await names.workspaceOrAll(word))?.id ?? null;
    const first = limit ?? AGENT_LIMITS.pageDefault;
    const { nodes } = (await graph.run(SEARCH, { query, first, workspaceId, includeArchived })).search;
    return {
      results: nodes.map((node) => ({
        id: node.id,
        type: node.__typename.toLowerCase() as 'task' | 'project' | 'comment',
        title: recordTitle(node),
        url: recordUri(node),
      })),
    };
  },
});
