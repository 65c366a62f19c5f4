import type { ActionName, StoredEntry, SyncAction } from '@wts/contracts';
import { idIn } from '@wts/models';
import { jsonTextOf } from './json-text.ts';

/** The fields of an entry besides its record. */
type Header = Omit<SyncAction, 'data' | 'createdAt'> & Pick<StoredEntry, 'workspaceId'>;

/** Memory of an entry besides its text: its object, its position, its group, string headers. */
const FIXED_BYTES = 256;

/**
 * A log entry as clients read it. It holds the record as JSON text only, because the parsed record takes several times as much
 * memory, and a process holds the entries of a whole minute.
 *
 * Keeps sync.action.fields, sync.action.sync-id and sync.action.words.
 */
export class Entry {
  readonly id: bigint;
  readonly groupId: string;
  /** The workspace of the record; null for a record of no workspace, such as a person. */
  readonly workspaceId: string | null;
  readonly action: ActionName;
  /** The group that a person gained or lost; null for other entries. The person's own group has this entry for them. */
  readonly gainedOrLost: string | null;
  /** True when a person was removed from a project. */
  readonly isProjectLoss: boolean;
  /** The JSON text of a `SyncAction`. */
  readonly text: string;

  /** `data` is JSON text, `createdAt` as on the wire. */
  constructor(header: Header, gainedOrLost: string | null, data: string, createdAt: string) {
    const { syncId, modelName, modelId, action, groupId, clientTxId, clientId, workspaceId } = header;
    this.id = BigInt(syncId);
    this.groupId = groupId;
    // Almost always the same text, which is then stored once.
    this.workspaceId = workspaceId === groupId ? groupId : workspaceId;
    this.action = action;
    this.gainedOrLost = gainedOrLost;
    this.isProjectLoss = gainedOrLost !== null && action === 'DELETE' && modelName === 'ProjectMember';
    // `join`, because `+` would keep all its parts in memory.
    this.text = [
      `{"syncId":"${syncId}","modelName":"${modelName}","modelId":"${modelId}","action":"${action}","data":`,
      data,
      `,"groupId":"${groupId}","clientTxId":${JSON.stringify(clientTxId)},"clientId":${JSON.stringify(clientId)}`,
      `,"createdAt":"${createdAt}"}`,
    ].join('');
  }

  /** The entry as clients read it, of a stored one. */
  static of(stored: StoredEntry): Entry {
    return new Entry(stored, gainedOrLostOf(stored), jsonTextOf(stored.data), stored.createdAt);
  }

  /** Approximate heap size. A text with a character beyond ASCII may take two bytes for each character. */
  get bytes(): number {
    const { length } = this.text;
    return FIXED_BYTES + (Buffer.byteLength(this.text) === length ? length : 2 * length);
  }
}

/** The same rule as `GAINED_OR_LOST` in SQL. */
function gainedOrLostOf({ action, modelName, record }: StoredEntry): string | null {
  if (action !== 'INSERT' && action !== 'DELETE') return null;
  if (modelName === 'WorkspaceMember') return idIn(record, 'workspaceId');
  return modelName === 'ProjectMember' ? idIn(record, 'projectId') : null;
}
