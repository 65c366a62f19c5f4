import { Project } from '@wts/models';
import { document } from '../graph/graph.ts';
import { PROJECT, PROJECT_FRAGMENT, type ProjectNode } from '../views/project.ts';
import { inputOf } from '../views/fields.ts';
import type { Page, PageVariables } from '../views/parts.ts';
import { list, NEXT, nextOf, object, PAGE, PAGE_INFO, pageOf, within, word, WORKSPACE_FILTER } from '../views/parts.ts';
import { tool } from './tool.ts';

const PROJECTS = document<Page<ProjectNode>, PageVariables & { includeArchived: boolean }>(
  `query AgentListProjects($filter: ProjectFilter, $first: Int!, $after: String, $includeArchived: Boolean!) {
  found: projects(filter: $filter, first: $first, after: $after, includeArchived: $includeArchived, orderBy: {name: ASC}) {
    nodes { ...ProjectFields }
    ${PAGE_INFO}
  }
}`,
  PROJECT_FRAGMENT,
);

export const listProjects = tool({
  name: 'list_projects',
  title: 'List projects',
  description:
    'Lists the projects of a workspace, or of all workspaces of the person, by name. Example: {"workspace": "acme", "status": "active"}',
  effect: 'reads',
  input: object(
    {
      workspace: WORKSPACE_FILTER,
      team: word('Name, key or id of a team.'),
      status: inputOf(Project.fields.status, 'Default: any.'),
      includeArchived: { type: 'boolean', description: 'Default: false.' },
      ...PAGE,
    },
    [],
  ),
  output: object({ projects: list(PROJECT), ...NEXT }),
  run: async (args, { graph, names }) => {
    const { team, status, includeArchived = false } = args;
    const workspace = await names.workspaceOrAll(args.workspace);
    const filter = {
      ...within(workspace),
      ...(team === undefined ? {} : { teamId: { eq: await names.team(team, workspace) } }),
      ...(status === undefined ? {} : { status: { eq: status } }),
    };
    const { found } = await graph.run(PROJECTS, { filter, includeArchived, ...pageOf(args) });
    return { projects: found.nodes, ...nextOf(found.pageInfo) };
  },
});
