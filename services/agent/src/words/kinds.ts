import type { Document, Graph } from '../graph/graph.ts';
import { document } from '../graph/graph.ts';
import { AGENT_LIMITS } from '../limits.ts';

/** What a word may mean. */
export interface Candidate {
  readonly id: string;
  /** Everything that it is called. */
  readonly names: readonly string[];
  /** For the texts of errors. */
  readonly shown: string;
}

export interface Kind {
  readonly noun: string;
  /** The tool that lists all of them. */
  readonly listTool: string;
  readonly byIds: (ids: readonly string[]) => object;
  /** Conditions, of which one must hold. */
  readonly byName: (word: string) => readonly object[];
  readonly find: (graph: Graph, filter: object) => Promise<Candidates>;
}

export interface Candidates {
  readonly all: readonly Candidate[];
  /** True: there are more than were read. */
  readonly isPart: boolean;
}

interface NamesPage<Node> {
  readonly found: { readonly nodes: readonly Node[]; readonly pageInfo: { readonly hasNextPage: boolean } };
}

/** Reads a page. */
function found<Node>(
  list: Document<NamesPage<Node>, { filter: object }>,
  read: (node: Node) => Candidate,
): Kind['find'] {
  return async (graph, filter) => {
    const { nodes, pageInfo } = (await graph.run(list, { filter })).found;
    return { all: nodes.map(read), isPart: pageInfo.hasNextPage };
  };
}

interface Keyed {
  readonly id: string;
  readonly key: string;
  readonly name: string;
}

interface LabelNode {
  readonly id: string;
  readonly name: string;
  readonly team: { readonly key: string } | null;
}

interface MemberNode {
  readonly userId: string;
  readonly user: { readonly name: string; readonly email: string | null; readonly username: string | null } | null;
}

const same = (word: string): { eqIgnoreCase: string } => ({ eqIgnoreCase: word });

const byIds = (ids: readonly string[]): object => ({ id: { in: ids } });
const byNameAndKey = (word: string): object[] => [{ name: same(word) }, { key: same(word) }];

function keyed({ id, key, name }: Keyed): Candidate {
  return { id, names: [name, key], shown: `${JSON.stringify(name)} (${key})` };
}

/** The kinds of records that words name, besides workspaces and tasks. */
export const KINDS = {
  project: {
    noun: 'project',
    listTool: 'list_projects',
    byIds,
    byName: byNameAndKey,
    find: found(
      document<NamesPage<Keyed>, { filter: object }>(`query AgentProjectNames($filter: ProjectFilter!) {
  found: projects(first: ${AGENT_LIMITS.namesReadMax}, filter: $filter) { nodes { id key name } pageInfo { hasNextPage } }
}`),
      keyed,
    ),
  },
  team: {
    noun: 'team',
    listTool: 'list_teams',
    byIds,
    byName: byNameAndKey,
    find: found(
      document<NamesPage<Keyed>, { filter: object }>(`query AgentTeamNames($filter: TeamFilter!) {
  found: teams(first: ${AGENT_LIMITS.namesReadMax}, filter: $filter) { nodes { id key name } pageInfo { hasNextPage } }
}`),
      keyed,
    ),
  },
  label: {
    noun: 'label',
    listTool: 'list_labels',
    byIds,
    byName: (word) => [{ name: same(word) }],
    find: found(
      document<NamesPage<LabelNode>, { filter: object }>(`query AgentLabelNames($filter: LabelFilter!) {
  found: labels(first: ${AGENT_LIMITS.namesReadMax}, filter: $filter) { nodes { id name team { key } } pageInfo { hasNextPage } }
}`),
      ({ id, name, team }) => ({
        id,
        names: [name],
        shown: `${JSON.stringify(name)}${team === null ? '' : ` (team ${team.key})`}`,
      }),
    ),
  },
  person: {
    noun: 'member',
    listTool: 'list_members',
    byIds: (ids) => ({ userId: { in: ids } }),
    byName: (word) => [{ user: { or: [{ name: same(word) }, { email: same(word) }, { username: same(word) }] } }],
    find: found(
      document<NamesPage<MemberNode>, { filter: object }>(`query AgentMemberNames($filter: WorkspaceMemberFilter!) {
  found: members(first: ${AGENT_LIMITS.namesReadMax}, filter: $filter) { nodes { userId user { name email username } } pageInfo { hasNextPage } }
}`),
      ({ userId, user }) => ({
        id: userId,
        names: [user?.name, user?.email, user?.username].filter((name) => typeof name === 'string'),
        shown: `${JSON.stringify(user?.name ?? '')}${user?.email ? ` <${user.email}>` : ''}`,
      }),
    ),
  },
} as const satisfies Readonly<Record<string, Kind>>;

export type KindName = keyof typeof KINDS;
