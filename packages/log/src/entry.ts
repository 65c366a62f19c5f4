import type { ActionName, StoredEntry, SyncAction } from '@wts/contracts';
import { idIn } from '@wts/models';

/** What a stored entry says of itself beside its record. */
type Header = Omit<SyncAction, 'data' | 'createdAt'> & Pick<StoredEntry, 'workspaceId'>;

/** What an entry costs beside the characters of its text: its object, its place as a number, its group, string headers. */
const FIXED_BYTES = 256;

/**
 * A log entry as clients read it. It is kept as its JSON text and nothing else: the parsed record it was made from takes
 * several times as much memory, and the entries of a whole minute are kept.
 *
 * Keeps sync.action.fields, sync.action.sync-id and sync.action.words.
 */
export class Entry {
  readonly id: bigint;
  readonly groupId: string;
  /** Where the record lies; null for what lies in no workspace, such as a person. */
  readonly workspaceId: string | null;
  readonly action: ActionName;
  /** When the entry says that a person gained or lost a group: which. In the person's own group it is meant for them. */
  readonly movedGroup: string | null;
  /** True when it says that a person is no longer in a project. */
  readonly isProjectLoss: boolean;
  /** The JSON text of a `SyncAction`. */
  readonly text: string;

  /** `data` is JSON text, `createdAt` as on the wire. */
  constructor(header: Header, movedGroup: string | null, data: string, createdAt: string) {
    const { syncId, modelName, modelId, action, groupId, clientTxId, clientId, workspaceId } = header;
    this.id = BigInt(syncId);
    this.groupId = groupId;
    // Almost always the same text, which is then kept once.
    this.workspaceId = workspaceId === groupId ? groupId : workspaceId;
    this.action = action;
    this.movedGroup = movedGroup;
    this.isProjectLoss = movedGroup !== null && action === 'DELETE' && modelName === 'ProjectMember';
    // Joined, because a sum of strings would keep all its parts.
    this.text = [
      `{"syncId":"${syncId}","modelName":"${modelName}","modelId":"${modelId}","action":"${action}","data":`,
      data,
      `,"groupId":"${groupId}","clientTxId":${JSON.stringify(clientTxId)},"clientId":${JSON.stringify(clientId)}`,
      `,"createdAt":"${createdAt}"}`,
    ].join('');
  }

  /** The entry that clients read for a stored one. */
  static of(stored: StoredEntry): Entry {
    return new Entry(stored, movedGroupOf(stored), JSON.stringify(stored.data), stored.createdAt);
  }

  /** About what it takes of the heap. A text of anything beyond ASCII may take two bytes for each character. */
  get bytes(): number {
    const { length } = this.text;
    return FIXED_BYTES + (Buffer.byteLength(this.text) === length ? length : 2 * length);
  }
}

/** As `MOVED_GROUP` says it in SQL. */
function movedGroupOf({ action, modelName, record }: StoredEntry): string | null {
  if (action !== 'INSERT' && action !== 'DELETE') return null;
  if (modelName === 'WorkspaceMember') return idIn(record, 'workspaceId');
  return modelName === 'ProjectMember' ? idIn(record, 'projectId') : null;
}
