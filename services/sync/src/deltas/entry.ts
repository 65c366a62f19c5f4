import { ACTION_LETTERS } from '@wts/contracts';
import type { ActionName, LogAction, SyncAction } from '@wts/contracts';
import { idIn } from '@wts/models';

/** How a caller spells actions: `INSERT` as the specification does, or `I` as the letters of existing clients. */
export type Dialect = 'words' | 'letters';

/** A log entry with its data as an object, or as the JSON text that stands in the log. */
export type EntrySource = Omit<SyncAction, 'data'> &
  ({ readonly data: SyncAction['data'] } | { readonly dataText: string }) & {
    /** Where what it tells of lies; null for what lies in no workspace, such as a person. */
    readonly workspaceId: string | null;
    /** The group that this entry opened to somebody, or closed; null for all other entries. */
    readonly movedGroup: string | null;
  };

/** What an entry costs beside the characters of its text: its object, its place as a number, its group, string headers. */
const FIXED_BYTES = 256;

/**
 * A log entry as clients read it. It is kept as its JSON text in words and nothing else: the parsed record it was made from
 * takes several times as much memory, and the entries of a whole minute are kept. The two spellings differ in the action
 * alone.
 *
 * Keeps sync.action.fields, sync.action.sync-id, sync.action.words and sync.action.letters.
 */
export class Entry {
  readonly id: bigint;
  readonly groupId: string;
  readonly workspaceId: string | null;
  readonly action: ActionName;
  /** When the entry says that a person gained or lost a group: which. In the person's own group it is meant for them. */
  readonly movedGroup: string | null;
  /** True when it says that a person is no longer in a project. */
  readonly isProjectLoss: boolean;
  readonly #words: string;
  readonly #actionAt: number;

  constructor(source: EntrySource) {
    const { syncId, modelName, modelId, action, groupId, clientTxId, clientId, createdAt, movedGroup } = source;
    this.id = BigInt(syncId);
    this.groupId = groupId;
    // Almost always the same text, which is then kept once.
    this.workspaceId = source.workspaceId === groupId ? groupId : source.workspaceId;
    this.action = action;
    this.movedGroup = movedGroup;
    this.isProjectLoss = movedGroup !== null && action === 'DELETE' && modelName === 'ProjectMember';
    const head = `{"syncId":"${syncId}","modelName":"${modelName}","modelId":"${modelId}","action":"`;
    const data = 'dataText' in source ? source.dataText : JSON.stringify(source.data);
    this.#actionAt = head.length;
    // Joined, because a sum of strings would keep all its parts.
    this.#words = [
      head,
      action,
      '","data":',
      data,
      `,"groupId":"${groupId}","clientTxId":${JSON.stringify(clientTxId)},"clientId":${JSON.stringify(clientId)}`,
      `,"createdAt":"${createdAt}"}`,
    ].join('');
  }

  /** About what it takes of the heap. A text of anything beyond ASCII may take two bytes for each character. */
  get bytes(): number {
    const { length } = this.#words;
    return FIXED_BYTES + (Buffer.byteLength(this.#words) === length ? length : 2 * length);
  }

  text(dialect: Dialect): string {
    if (dialect === 'words') return this.#words;
    const after = this.#actionAt + this.action.length;
    return this.#words.slice(0, this.#actionAt) + ACTION_LETTERS[this.action] + this.#words.slice(after);
  }

  /**
   * The same place in the log for a caller in letters, when it is a gain or loss: a `G` with all groups the person now
   * has. It stands in place of the membership itself because a client follows one entry per place.
   */
  groupChangeText(userId: string, groups: ReadonlySet<string>): string {
    const { syncId, clientTxId, clientId, createdAt } = JSON.parse(this.#words) as SyncAction;
    const names = { syncId, modelName: '__sync_groups__', modelId: userId, action: 'G' };
    const rest = { groupId: userId, clientTxId, clientId, createdAt };
    const data = `{"subscribedSyncGroups":${listText(inOrder(userId, groups))}}`;
    return `${JSON.stringify(names).slice(0, -1)},"data":${data},${JSON.stringify(rest).slice(1)}`;
  }
}

export function entriesOf(actions: readonly LogAction[]): Entry[] {
  return actions.map((action) => new Entry({ ...action, movedGroup: movedGroupOf(action) }));
}

function movedGroupOf({ action, modelName, record }: LogAction): string | null {
  if (action !== 'INSERT' && action !== 'DELETE') return null;
  if (modelName === 'WorkspaceMember') return idIn(record, 'workspaceId');
  return modelName === 'ProjectMember' ? idIn(record, 'projectId') : null;
}

const texts = new WeakMap<readonly string[], string>();

/** As JSON, written once for each list: somebody with tens of thousands of groups may have a thousand sockets. */
export function listText(list: readonly string[]): string {
  let text = texts.get(list);
  if (text === undefined) texts.set(list, (text = JSON.stringify(list)));
  return text;
}

const ordered = new WeakMap<ReadonlySet<string>, readonly string[]>();

/** The person's own group first, then the others, always in the same order. Sorted once, as long as it is the same set. */
export function inOrder(userId: string, groups: ReadonlySet<string>): readonly string[] {
  let list = ordered.get(groups);
  if (list === undefined) {
    list = [...groups].sort((a, b) => Number(b === userId) - Number(a === userId) || (a < b ? -1 : 1));
    ordered.set(groups, list);
  }
  return list;
}
