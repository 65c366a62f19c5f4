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

interface MemberNode {
  readonly userId: string;
  readonly role: string;
  readonly workspaceId: string;
  readonly user: { readonly name: string; readonly email: string | null; readonly username: string | null } | null;
}

const MEMBERS = document<
  Page<MemberNode>,
  PageVariables
>(`query AgentListMembers($filter: WorkspaceMemberFilter, $first: Int!, $after: String) {
  found: members(filter: $filter, first: $first, after: $after, orderBy: {createdAt: ASC}) {
    nodes { userId role workspaceId user { name email username } }
    ${PAGE_INFO}
  }
}`);

const MEMBER = object(
  { id: text, name: text, email: textOrNull, username: textOrNull, role: text, workspaceId: text },
  ['id', 'name', 'email', 'username', 'role', 'workspaceId'],
);

export const listMembers = tool({
  name: 'list_members',
  title: 'List members',
  description:
    'Lists the people of a workspace, or of all workspaces of the person, with their roles. Use it to find who can be assigned. Example: {"workspace": "acme"}',
  effect: 'reads',
  input: object({ workspace: WORKSPACE, ...PAGE }, []),
  output: object({ members: list(MEMBER), ...NEXT }, ['members', 'nextCursor', 'hasMore']),
  run: async (args, { graph, names }) => {
    const workspace = await names.workspaceOrAll(args.workspace);
    const { found } = await graph.run(MEMBERS, { filter: within(workspace), ...pageOf(args) });
    return {
      members: found.nodes.map(({ userId, role, workspaceId, user }) => ({
        id: userId,
        name: user?.name ?? '',
        email: user?.email ?? null,
        username: user?.username ?? null,
        role,
        workspaceId,
      })),
      ...nextOf(found.pageInfo),
    };
  },
});
