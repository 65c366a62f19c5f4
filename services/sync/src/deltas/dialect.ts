import { ACTION_LETTERS } from '@wts/contracts';
import type { SyncAction } from '@wts/contracts';
import type { Entry } from '@wts/log';
import type { Visibility } from '@wts/read-model';
import { inOrder, listText } from './group-list.ts';

/** How a caller spells actions: `INSERT` as the specification does, or `I` as the letters of existing clients. */
export type Dialect = 'words' | 'letters';

/**
 * The last step before an entry leaves: everything before it speaks words. Clients in letters differ in three things, which
 * stand here and nowhere else: the action is one letter, a gain or loss of a group is a `G` with all groups they then have,
 * and some things they can only follow by loading everything anew.
 */
interface Exit {
  /** The text of an entry, the same for all who are shown it. */
  readonly text: (entry: Entry) => string;
  /** The text of an entry for one reader, who is shown it. */
  readonly textFor: (entry: Entry, visibility: Visibility) => string;
  /** True for an entry that a client can only follow by loading everything anew. */
  readonly mustLoadAt: (entry: Entry, visibility: Visibility) => boolean;
  /** False for clients that cannot recover from a fault in a page: their socket sends them BOOTSTRAP_REQUIRED instead. */
  readonly recoversFromFault: boolean;
}

const words: Exit = {
  text: (entry) => entry.text,
  textFor: (entry) => entry.text,
  mustLoadAt: () => false,
  recoversFromFault: true,
};

const ACTION = '"action":"';

/** Keeps sync.action.letters. */
const letters: Exit = {
  // Names of models and ids stand before the action, and no quote in them.
  text({ text, action }) {
    const at = text.indexOf(ACTION) + ACTION.length;
    return text.slice(0, at) + ACTION_LETTERS[action] + text.slice(at + action.length);
  },
  textFor(entry, visibility) {
    return visibility.isMove(entry)
      ? groupChange(entry, visibility.userId, visibility.groupsAfter(entry.id))
      : letters.text(entry);
  },
  /**
   * The loss of a private project it has. Such a client drops what belongs to a group by one field of each model, and
   * applications name the workspace there: told of the loss alone, it would keep what is inside the project. Who lost the
   * whole workspace drops that.
   */
  mustLoadAt(entry, visibility) {
    return (
      entry.isProjectLoss &&
      visibility.isMove(entry) &&
      visibility.isRequested(entry.movedGroup ?? '') &&
      visibility.all.has(entry.workspaceId ?? '') &&
      !visibility.isOutsideCredential(entry)
    );
  },
  recoversFromFault: false,
};

export const EXITS = { words, letters } as const satisfies Record<Dialect, Exit>;

/**
 * The same place in the log for a caller in letters, when it is a gain or loss: a `G` with all groups the person now has. It
 * stands in place of the membership itself because a client follows one entry per place.
 */
function groupChange(entry: Entry, userId: string, groups: ReadonlySet<string>): string {
  const { syncId, clientTxId, clientId, createdAt } = JSON.parse(entry.text) as SyncAction;
  const names = { syncId, modelName: '__sync_groups__', modelId: userId, action: 'G' };
  const rest = { groupId: userId, clientTxId, clientId, createdAt };
  const data = `{"subscribedSyncGroups":${listText(inOrder(userId, groups))}}`;
  return `${JSON.stringify(names).slice(0, -1)},"data":${data},${JSON.stringify(rest).slice(1)}`;
}
