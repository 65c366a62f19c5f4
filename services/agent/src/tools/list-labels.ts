import { document } from '../graph/graph.ts';
import type { Page, PageVariables } from '../views/parts.ts';
import {
  list,
  NEXT,
  nextOf,
  object,
  PAGE,
  PAGE_INFO,
  pageOf,
  text,
  textOrNull,
  within,
  WORKSPACE,
} from '../views/parts.ts';
import { tool } from './tool.ts';

interface LabelNode {
  readonly id: string;
  readonly name: string;
  readonly color: string | null;
  readonly team: { readonly id: string; readonly key: string; readonly name: string } | null;
  readonly workspaceId: string;
}

const LABELS = document<
  Page<LabelNode>,
  PageVariables
>(`query AgentListLabels($filter: LabelFilter, $first: Int!, $after: String) {
  found: labels(filter: $filter, first: $first, after: $after, orderBy: {name: ASC}) {
    nodes { id name color team { id key name } workspaceId }
    ${PAGE_INFO}
  }
}`);

const LABEL = object(
  {
    id: text,
    name: text,
    color: textOrNull,
    team: {
      anyOf: [object({ id: text, key: text, name: text }, ['id', 'key', 'name']), { type: 'null' }],
      description: 'The team whose label it is; null for the whole workspace.',
    },
    workspaceId: text,
  },
  ['id', 'name', 'color', 'team', 'workspaceId'],
);

export const listLabels = tool({
  name: 'list_labels',
  title: 'List labels',
  description:
    'Lists the labels of a workspace, or of all workspaces of the person, by name. Use it before you put labels on tasks. Example: {"workspace": "acme"}',
  effect: 'reads',
  input: object({ workspace: WORKSPACE, ...PAGE }, []),
  output: object({ labels: list(LABEL), ...NEXT }, ['labels', 'nextCursor', 'hasMore']),
  run: async (args, { graph, names }) => {
    const workspace = await names.workspaceOrAll(args.workspace);
    const { found } = await graph.run(LABELS, { filter: within(workspace), ...pageOf(args) });
    return { labels: found.nodes, ...nextOf(found.pageInfo) };
  },
});
