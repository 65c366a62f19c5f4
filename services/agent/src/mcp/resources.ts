import { UUID_PATTERN } from '@wts/contracts';
import { document, type Graph } from '../graph/graph.ts';
import { AGENT_LIMITS } from '../limits.ts';
import { nextOf, PAGE_INFO, type PageInfo } from '../views/parts.ts';
import { recordText } from '../views/markdown.ts';
import { recordTitle, recordUri, type FoundNode } from '../views/record.ts';

const MARKDOWN = 'text/markdown';

export const RESOURCE_TEMPLATES = ['task', 'project', 'comment'].map((type) => ({
  name: type,
  title: `A ${type}`,
  uriTemplate: `wts://${type}/{id}`,
  description: `A ${type} as Markdown, by its id.`,
  mimeType: MARKDOWN,
}));

type TaskNode = Extract<FoundNode, { __typename: 'Task' }>;

const MINE = document<
  { tasks: { readonly nodes: readonly TaskNode[]; readonly pageInfo: PageInfo } },
  { filter: object; first: number; after: string | null }
>(`query AgentResources($filter: TaskFilter!, $first: Int!, $after: String) {
  tasks(filter: $filter, first: $first, after: $after, orderBy: {updatedAt: DESC}) {
    nodes { __typename id number title workspace { urlKey } }
    ${PAGE_INFO}
  }
}`);

interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
}

/**
 * The open tasks of the person, which is what a person picks from a list; all others have an address too.
 * Keeps agent.resources.listed.
 */
export async function listResources(
  cursor: string | undefined,
  graph: Graph,
): Promise<{ resources: Resource[]; nextCursor?: string }> {
  const filter = { assigneeId: { eq: graph.caller.principal.userId }, completedAt: { null: true } };
  const { tasks } = await graph.run(MINE, { filter, first: AGENT_LIMITS.resourcesMax, after: cursor ?? null });
  const { nextCursor } = nextOf(tasks.pageInfo);
  const resources = tasks.nodes.map((node) => ({ uri: recordUri(node), name: recordTitle(node), mimeType: MARKDOWN }));
  return { resources, ...(nextCursor === null ? {} : { nextCursor }) };
}

const URI = new RegExp(`^wts://(task|project|comment)/(${UUID_PATTERN.slice(1, -1)})$`);

/** Null when there is nothing at this address that the caller may see. */
export async function readResource(
  uri: string,
  graph: Graph,
): Promise<{ uri: string; mimeType: string; text: string } | null> {
  const [, type, id] = URI.exec(uri) ?? [];
  if (id === undefined) return null;
  const record = await recordText(id, graph);
  return record.type === type ? { uri, mimeType: MARKDOWN, text: record.text } : null;
}
