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

interface TeamNode {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly description: string | null;
  readonly workspaceId: string;
}

const TEAMS = document<
  Page<TeamNode>,
  PageVariables
>(`query AgentListTeams($filter: TeamFilter, $first: Int!, $after: String) {
  found: teams(filter: $filter, first: $first, after: $after, orderBy: {name: ASC}) {
    nodes { id key name description workspaceId }
    ${PAGE_INFO}
  }
}`);

const TEAM = object({ id: text, key: text, name: text, description: textOrNull, workspaceId: text }, [
  'id',
  'key',
  'name',
  'description',
  'workspaceId',
]);

export const listTeams = tool({
  name: 'list_teams',
  title: 'List teams',
  description:
    'Lists the teams of a workspace, or of all workspaces of the person, by name. Other tools take the name, key or id of a team. Example: {"workspace": "acme"}',
  effect: 'reads',
  input: object({ workspace: WORKSPACE, ...PAGE }, []),
  output: object({ teams: list(TEAM), ...NEXT }, ['teams', 'nextCursor', 'hasMore']),
  run: async (args, { graph, names }) => {
    const workspace = await names.workspaceOrAll(args.workspace);
    const { found } = await graph.run(TEAMS, { filter: within(workspace), ...pageOf(args) });
    return { teams: found.nodes, ...nextOf(found.pageInfo) };
  },
});
