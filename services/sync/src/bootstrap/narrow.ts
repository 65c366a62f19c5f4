import type { PersonGroups, Viewer } from '@wts/read-model';
import { inOrder } from '../deltas/group-list.ts';
import type { ParsedBootstrap } from './parsed-bootstrap.ts';

/** The groups of an answer, as the first line lists them, and the viewer for its queries. */
export interface Narrowed {
  readonly subscribed: readonly string[];
  readonly viewer: Viewer;
  /**
   * The groups whose changes the client follows: those of the viewer, or all of the person's when it loads a part in addition
   * to what it has. People are sent as these groups see them.
   */
  readonly all: readonly string[];
}

/**
 * Requested groups narrow what a person may see and never widen it. Keeps sync.bootstrap.sync-groups.
 *
 * All records of the person's own group (their profile, the memberships that open a group to them) are also in the groups
 * that those memberships open. So a request for all groups does not query the person's own group: its result is the same
 * for everyone with the same workspaces and projects, and one snapshot serves all members of a workspace who reconnect.
 */
export function narrow(request: ParsedBootstrap, person: PersonGroups): Narrowed {
  const { userId, workspaceId } = request;
  const groups = request.groups === null ? person.groups : person.groups.intersection(request.groups);
  const others = [...groups].filter((group) => group !== userId).sort();
  const subscribed = groups.has(userId) ? inOrder(userId, groups) : others;
  const hasAll = groups.size === person.groups.size && others.length > 0;
  const viewer: Viewer =
    hasAll || !groups.has(userId)
      ? { groups: others, person: null }
      : { groups: subscribed, person: { userId, workspaceId } };
  const all = request.isPartial && !hasAll ? inOrder(userId, person.groups) : viewer.groups;
  return { subscribed, viewer, all };
}
