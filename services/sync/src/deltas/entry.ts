import { ACTION_LETTERS } from '@wts/contracts';
import type { ActionName, LogAction, SyncAction } from '@wts/contracts';

/** How a caller spells actions: `INSERT` as the specification does, or `I` as the letters of existing clients. */
export type Dialect = 'words' | 'letters';

/** A log entry with its data as an object, or as the JSON text that stands in the log. */
export type EntrySource = Omit<SyncAction, 'data'> &
  ({ readonly data: SyncAction['data'] } | { readonly dataText: string }) & {
    /** The group that this entry opened to somebody, or closed; null for all other entries. */
    readonly movedGroup: string | null;
  };

/**
 * A log entry as clients read it. Its JSON text is made when the first reader wants it and kept; the two spellings
 * share all of it but the action.
 *
 * Keeps sync.action.fields, sync.action.sync-id, sync.action.words and sync.action.letters.
 */
export class Entry {
  readonly id: bigint;
  readonly groupId: string;
  readonly action: ActionName;
  /** When the entry says that a person gained or lost a group: which. In the person's own group it is meant for them. */
  readonly movedGroup: string | null;
  readonly #source: EntrySource;
  #head: string | undefined;
  #tail = '';

  constructor(source: EntrySource) {
    this.id = BigInt(source.syncId);
    this.groupId = source.groupId;
    this.action = source.action;
    this.movedGroup = source.movedGroup;
    this.#source = source;
  }

  /** True when it says that a person is no longer in a project. */
  get isProjectLoss(): boolean {
    return this.movedGroup !== null && this.action === 'DELETE' && this.#source.modelName === 'ProjectMember';
  }

  get committedAtMs(): number {
    return Date.parse(this.#source.createdAt);
  }

  text(dialect: Dialect): string {
    const head = (this.#head ??= this.#spell());
    return head + (dialect === 'letters' ? ACTION_LETTERS[this.action] : this.action) + this.#tail;
  }

  /**
   * The same place in the log for a caller in letters, when it is a gain or loss: a `G` with all groups the person now
   * has. It stands in place of the membership itself because a client follows one entry per place.
   */
  groupChangeText(userId: string, groups: Iterable<string>): string {
    const { syncId, clientTxId, clientId, createdAt } = this.#source;
    return JSON.stringify({
      syncId,
      modelName: '__sync_groups__',
      modelId: userId,
      action: 'G',
      data: { subscribedSyncGroups: inOrder(userId, groups) },
      groupId: userId,
      clientTxId,
      clientId,
      createdAt,
    });
  }

  #spell(): string {
    const { syncId, modelName, modelId, clientTxId, clientId, createdAt } = this.#source;
    const data = 'dataText' in this.#source ? this.#source.dataText : JSON.stringify(this.#source.data);
    this.#tail = `","data":${data},"groupId":"${this.groupId}","clientTxId":${JSON.stringify(clientTxId)},"clientId":${JSON.stringify(clientId)},"createdAt":"${createdAt}"}`;
    return `{"syncId":"${syncId}","modelName":"${modelName}","modelId":"${modelId}","action":"`;
  }
}

export function entriesOf(actions: readonly LogAction[]): Entry[] {
  return actions.map((action) => new Entry({ ...action, movedGroup: movedGroupOf(action) }));
}

function movedGroupOf({ action, modelName, record }: LogAction): string | null {
  if (action !== 'INSERT' && action !== 'DELETE') return null;
  if (modelName === 'WorkspaceMember') return record['workspaceId'] as string;
  return modelName === 'ProjectMember' ? (record['projectId'] as string) : null;
}

/** The person's own group first, then the others, always in the same order. */
export function inOrder(userId: string, groups: Iterable<string>): string[] {
  return [...groups].sort((a, b) => Number(b === userId) - Number(a === userId) || (a < b ? -1 : 1));
}
