import type { SyncAction } from '@wts/client';
import type { ApiClient } from '@wts/client/api';

/** Of a group that is no private project, such as another workspace, the node has no workspace. */
const GROUPS = 'query CliGroups($ids: [ID!]!) { nodes(ids: $ids) { id ... on Project { workspaceId } } }';
/** What the service takes at once. */
const IDS_MAX = 100;

interface GroupNode {
  readonly id: string;
  readonly workspaceId?: string;
}

/**
 * The groups of one workspace: its own, and those of its private projects, also of one that was made, or that the reader joined, while
 * entries are read. The service is asked once about each group of which the entries do not say it.
 */
export class WorkspaceGroups {
  readonly #workspaceId: string;
  readonly #api: ApiClient;
  readonly #isOwn: Map<string, boolean>;

  constructor(workspaceId: string, api: ApiClient) {
    this.#workspaceId = workspaceId;
    this.#api = api;
    this.#isOwn = new Map([[workspaceId, true]]);
  }

  async learn(entries: readonly SyncAction[], signal: AbortSignal): Promise<void> {
    for (const { modelName, groupId, data } of entries)
      if (modelName === 'Project' && 'workspaceId' in data)
        this.#isOwn.set(groupId, data.workspaceId === this.#workspaceId);
    const ids = [...new Set(entries.map(({ groupId }) => groupId))].filter((id) => !this.#isOwn.has(id));
    for (let at = 0; at < ids.length; at += IDS_MAX) {
      const variables = { ids: ids.slice(at, at + IDS_MAX) };
      const { nodes } = await this.#api.graphql<{ nodes: readonly (GroupNode | null)[] }>(GROUPS, variables, {
        signal,
      });
      for (const node of nodes) if (node !== null) this.#isOwn.set(node.id, node.workspaceId === this.#workspaceId);
    }
  }

  /** Whether the entry is of the workspace. The group of a person has their memberships of all workspaces. */
  has({ groupId, data }: SyncAction): boolean {
    return this.#isOwn.get(groupId) === true || ('workspaceId' in data && data.workspaceId === this.#workspaceId);
  }
}
