import { ACTION_LETTERS, type SyncAction } from '@wts/contracts';
import type { Entry } from '@wts/log';
import type { Visibility } from '@wts/read-model';
import { inOrder, listText } from './group-list.ts';

/** How an answer spells actions: in words (`INSERT`) as the specification does, or in letters (`I`) as published clients do. */
export type ActionSpelling = 'words' | 'letters';

/**
 * Writes an entry as its client reads it; all other code uses words. Clients that read letters differ in three things: the
 * action is one letter, a gain or loss of a group is a `G` with all groups they then have, and some entries require a new
 * bootstrap. Only this file has these rules.
 */
interface EntryFormatter {
  /** The text of an entry that is the same for all readers. */
  readonly text: (entry: Entry) => string;
  /** The text of an entry for one reader. */
  readonly textFor: (entry: Entry, visibility: Visibility) => string;
  /** True when the client has to load everything again at this entry. */
  readonly requiresBootstrap: (entry: Entry, visibility: Visibility) => boolean;
  /** False for clients that cannot handle an error of `GET /sync/deltas`; their socket sends BOOTSTRAP_REQUIRED instead. */
  readonly recoversFromFault: boolean;
}

const words: EntryFormatter = {
  text: (entry) => entry.text,
  textFor: (entry) => entry.text,
  requiresBootstrap: () => false,
  recoversFromFault: true,
};

const ACTION = '"action":"';

/** Keeps sync.action.letters. */
const letters: EntryFormatter = {
  // The first match is the field, because only model names and ids come before it, and they contain no quotes.
  text({ text, action }) {
    const at = text.indexOf(ACTION) + ACTION.length;
    return text.slice(0, at) + ACTION_LETTERS[action] + text.slice(at + action.length);
  },
  textFor(entry, visibility) {
    return visibility.isGainOrLoss(entry)
      ? groupChange(entry, visibility.userId, visibility.groupsAfter(entry.id))
      : letters.text(entry);
  },
  /**
   * The loss of a private project that the client has. Such a client removes the records of a lost group by one field of each
   * model, and in applications that field is the workspace, so it would keep the records of the project. A client that lost
   * the whole workspace removes them with the workspace.
   */
  requiresBootstrap(entry, visibility) {
    return (
      entry.isProjectLoss &&
      visibility.isGainOrLoss(entry) &&
      visibility.isRequested(entry.gainedOrLost ?? '') &&
      visibility.all.has(entry.workspaceId ?? '') &&
      !visibility.isOutsideCredential(entry)
    );
  },
  recoversFromFault: false,
};

export const ENTRY_FORMATTERS = { words, letters } as const satisfies Record<ActionSpelling, EntryFormatter>;

/**
 * A gain or loss in letters: a `G` with all groups the person has at this position. It replaces the entry of the membership,
 * because a client accepts one entry per position.
 */
function groupChange(entry: Entry, userId: string, groups: ReadonlySet<string>): string {
  const { syncId, clientTxId, clientId, createdAt } = JSON.parse(entry.text) as SyncAction;
  const names = { syncId, modelName: '__sync_groups__', modelId: userId, action: 'G' };
  const rest = { groupId: userId, clientTxId, clientId, createdAt };
  const data = `{"subscribedSyncGroups":${listText(inOrder(userId, groups))}}`;
  return `${JSON.stringify(names).slice(0, -1)},"data":${data},${JSON.stringify(rest).slice(1)}`;
}
