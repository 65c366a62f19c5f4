import type { SyncAction } from '@wts/client';
import { taskKey } from '@wts/client/names';
import type { Session } from '../session/session.ts';

const NAMES = `query CliRecordNames($ids: [ID!]!) {
  nodes(ids: $ids) {
    __typename
    id
    ... on Task { number title workspace { urlKey } }
    ... on Project { name }
    ... on Label { name }
    ... on Team { name }
    ... on User { name }
    ... on Workspace { name }
    ... on WorkspaceMember { user { name } }
    ... on TeamMember { user { name } }
    ... on ProjectMember { user { name } }
    ... on Comment { task { number title workspace { urlKey } } }
    ... on TaskChecklistItem { title task { number workspace { urlKey } } }
  }
}`;

interface NamedNode {
  readonly __typename: string;
  readonly id: string;
  readonly name?: string;
  readonly title?: string;
  readonly number?: number;
  readonly workspace?: { readonly urlKey: string } | null;
  readonly user?: { readonly name: string } | null;
  readonly task?: NamedNode | null;
}

/** Names of records in lines for people, because an entry of a change has an id only. */
export class RecordNames {
  readonly #session: Session;
  readonly #names = new Map<string, string>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** One request for the records of several entries. A name that cannot be read is no failure of the list. */
  async learn(entries: readonly SyncAction[]): Promise<void> {
    // The name may be what changed.
    const ids = new Set(entries.map(({ modelId }) => modelId));
    const all = [...ids].slice(0, IDS_MAX);
    if (all.length === 0) return;
    if (this.#names.size > NAMES_MAX) this.#names.clear();
    type Answer = { readonly nodes: readonly (NamedNode | null)[] };
    const answer = await this.#session.api.graphql<Answer>(NAMES, { ids: all }).catch(() => null);
    for (const node of answer?.nodes ?? []) if (node !== null) this.#names.set(node.id, nameOf(node));
  }

  of({ modelName, modelId }: SyncAction): string {
    return this.#names.get(modelId) ?? `${modelName} ${modelId.slice(0, 8)}`;
  }
}

const IDS_MAX = 100;
const NAMES_MAX = 10_000;

function nameOf({ __typename: kind, name, title, number, workspace, user, task }: NamedNode): string {
  if (number !== undefined) return `${taskKey(workspace?.urlKey ?? '', number)} ${title ?? ''}`;
  if (task)
    return `${kind === 'Comment' ? 'Comment' : `Item "${title ?? ''}"`} of ${taskKey(task.workspace?.urlKey ?? '', task.number ?? 0)}`;
  // `WorkspaceMember` is two words.
  const noun = kind.replaceAll(/(?!^)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${noun} ${name ?? title ?? user?.name ?? ''}`.trimEnd();
}
