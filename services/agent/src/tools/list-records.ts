import type { JsonSchema } from '@wts/contracts';
import { Label, Team, type Model } from '@wts/models';
import { document } from '../graph/graph.ts';
import { viewOf, type View } from '../views/fields.ts';
import type { Page, PageVariables } from '../views/parts.ts';
import { list, NEXT, nextOf, object, PAGE, PAGE_INFO, pageOf, within, WORKSPACE_FILTER } from '../views/parts.ts';
import { tool, type Tool } from './tool.ts';

interface ListOptions<Node> extends Pick<View<object>, 'selection'> {
  readonly description: string;
  readonly schema: JsonSchema;
  /** By default the name. */
  readonly orderBy?: string;
  /** By default a record is shown as it is read. */
  readonly shown?: (node: Node) => object;
}

/** The tool that lists the records of a model in a workspace, or in all workspaces of the person. */
export function listRecords<Node extends object>(
  { name, plural }: Model,
  { description, schema, selection, orderBy = 'name: ASC', shown = (node) => node }: ListOptions<Node>,
): Tool {
  const query = document<
    Page<Node>,
    PageVariables
  >(`query AgentList($filter: ${name}Filter, $first: Int!, $after: String) {
  found: ${plural}(filter: $filter, first: $first, after: $after, orderBy: {${orderBy}}) {
    nodes { ${selection.join(' ')} }
    ${PAGE_INFO}
  }
}`);
  return tool({
    name: `list_${plural}`,
    title: `List ${plural}`,
    description,
    effect: 'reads',
    input: object({ workspace: WORKSPACE_FILTER, ...PAGE }, []),
    output: object<Record<string, JsonSchema>>({ [plural]: list(schema), ...NEXT }),
    run: async (args, { graph, names }) => {
      const workspace = await names.workspaceOrAll(args.workspace);
      const { found } = await graph.run(query, { filter: within(workspace), ...pageOf(args) });
      return { [plural]: found.nodes.map(shown), ...nextOf(found.pageInfo) };
    },
  });
}

export const listLabels = listRecords(Label, {
  description:
    'Lists the labels of a workspace, or of all workspaces of the person, by name. Use it before you put labels on tasks. Example: {"workspace": "acme"}',
  ...viewOf<object>(Label, {
    hidden: ['createdAt', 'updatedAt', 'archivedAt'],
    texts: { team: 'The team whose label it is; null for the whole workspace.' },
  }),
});

export const listTeams = listRecords(Team, {
  description:
    'Lists the teams of a workspace, or of all workspaces of the person, by name. Other tools take the name, key or id of a team. Example: {"workspace": "acme"}',
  ...viewOf<object>(Team, { hidden: ['createdAt', 'updatedAt', 'archivedAt'] }),
});
