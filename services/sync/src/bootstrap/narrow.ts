import type { PersonGroups, Viewer } from '@wts/read-model';
import { inOrder } from '../deltas/group-list.ts';
import type { Question } from './question.ts';

/** The groups an answer is for, as the client is told, and the viewer they make. */
export interface Narrowed {
  readonly subscribed: readonly string[];
  readonly viewer: Viewer;
  /**
   * What the client follows with the answer: the groups of the viewer themselves, or all that the person may see where it
   * loads a part beside what it has. People are shown as these groups see them.
   */
  readonly all: readonly string[];
}

/**
 * Asking for groups narrows and never widens. Keeps sync.bootstrap.sync-groups.
 *
 * All that the person's own group holds (their profile, the memberships that open a group to them) also stands in the
 * groups that those memberships open. So whoever asks for all their groups gets what everyone with the same workspaces and
 * projects gets, and all members of a workspace who reconnect at once are served from one snapshot.
 */
export function narrow(question: Question, person: PersonGroups): Narrowed {
  const { userId, workspaceId } = question;
  const groups = question.groups === null ? person.groups : person.groups.intersection(question.groups);
  const others = [...groups].filter((group) => group !== userId).sort();
  const subscribed = groups.has(userId) ? inOrder(userId, groups) : others;
  const hasAll = groups.size === person.groups.size && others.length > 0;
  const viewer: Viewer =
    hasAll || !groups.has(userId)
      ? { groups: others, person: null }
      : { groups: subscribed, person: { userId, workspaceId } };
  const all = question.isPartial && !hasAll ? inOrder(userId, person.groups) : viewer.groups;
  return { subscribed, viewer, all };
}
