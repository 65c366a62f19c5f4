import { requireScope } from '@wts/access';
import {
  Fault,
  syncApi,
  type MemberAccess,
  type MembershipChange,
  type PageQuery,
  type Principal,
  type WorkspaceApp,
  type WorkspaceEvent,
} from '@wts/contracts';
import { pageSizeOf, readPage } from '@wts/service-kit/routes';
import type { PeopleContext } from '../context.ts';
import { ofMembers } from '../directory/of-members.ts';
import { KINDS_FOR_OWNERS, sentenceOf, type StoredEvent, type Visitor } from '../domain/security-event.ts';
import type { ListedEvent, StoredApp, WorkspaceAccessReads } from '../store/workspace-access.ts';

interface AccessContext extends Pick<PeopleContext, 'roles' | 'directory' | 'oauth'> {
  readonly access: WorkspaceAccessReads;
}

/** How members reach a workspace, for its owners and admins. Keeps workspaces.access.members. */
export async function listAccess(
  { roles, directory, access }: AccessContext,
  principal: Principal,
  workspaceId: string,
  { after, limit }: PageQuery,
): Promise<{ readonly members: MemberAccess[]; readonly hasMore: boolean }> {
  await requireView(roles, principal, workspaceId);
  const from = after === undefined ? {} : { after };
  const { items: shown, hasMore } = await readPage(limit, (size) =>
    directory.members({ workspaceId, limit: size, ...from }),
  );
  const userIds = shown.map(({ userId }) => userId);
  const accessOf = new Map((await access.access(workspaceId, userIds)).map((one) => [one.userId, one]));
  const members = shown.flatMap((member) => {
    const own = accessOf.get(member.userId);
    if (own === undefined) return [];
    return { ...member, ...own, lastSignInAt: own.lastSignInAt?.toISOString() ?? null };
  });
  return { members, hasMore };
}

/** What happened with the access to a workspace, for its owners and admins. Keeps workspaces.access.events. */
export async function listSecurityEvents(
  { roles, directory, access }: AccessContext,
  principal: Principal,
  workspaceId: string,
  { before, limit }: { readonly before?: string; readonly limit?: number },
): Promise<{ readonly events: WorkspaceEvent[]; readonly next: string | null }> {
  await requireView(roles, principal, workspaceId);
  const size = pageSizeOf(limit);
  const [at = '', id = ''] = before?.split('_') ?? [];
  const from = before === undefined ? null : { at, id };
  const end = { limit: size + 1, ...(from === null ? {} : { before: from }) };
  const page = { kinds: KINDS_FOR_OWNERS, before: from, limit: size + 1 };
  const [changes, own, personal] = await Promise.all([
    directory.membershipChanges({ workspaceId, ...end }),
    access.events(workspaceId, page),
    ofMembers<ListedEvent>(directory, {
      workspaceId,
      size: size + 1,
      read: (members, last, count) =>
        access.personalEvents(members, {
          ...page,
          limit: count,
          before: last === null ? from : { at: last.place, id: last.id },
        }),
      isOfMember: ({ at: happenedAt }, { joinedAt }) => happenedAt >= new Date(joinedAt),
      pagesMax: EVENT_PAGES_MAX,
    }),
  ]);
  const { found, reached } = personal;
  const all = [...own, ...changes.map((one) => eventOfChange(workspaceId, one)), ...found].toSorted(newestFirst);
  // Older ones may have others of members between them.
  const known = reached === null ? all : all.filter((event) => newestFirst(event, reached) < 0);
  const shown = known.slice(0, size);
  return { events: shown.map(eventOf), next: placeOf(known.length > size ? shown.at(-1) : (reached ?? undefined)) };
}

/** Of a workspace whose many members do little, a page has what was found so far, and `next` goes on. */
const EVENT_PAGES_MAX = 20;

/** The apps that reach a workspace, for its owners and admins. Keeps workspaces.access.apps. */
export async function listApps(
  { roles, directory, access }: AccessContext,
  principal: Principal,
  workspaceId: string,
  { after, limit }: PageQuery,
): Promise<{ readonly apps: WorkspaceApp[]; readonly hasMore: boolean }> {
  await requireView(roles, principal, workspaceId);
  const { items, hasMore } = await readPage(limit, async (size) => {
    const { found } = await ofMembers<StoredApp>(directory, {
      workspaceId,
      size,
      // Few of the grants of all people may be of members, and then all of them are read; those of a member take one look in an index.
      membersMax: syncApi.RECORDS_PAGE_MAX - 1,
      read: (members, last, count) => access.apps(workspaceId, members, { after: last?.id ?? after, limit: count }),
    });
    return found;
  });
  return { apps: items.map(appOf), hasMore };
}

/**
 * Ends a grant that is limited to a workspace, for an owner, who ends keys of members too. One that covers other workspaces is not theirs
 * to end. Keeps workspaces.access.end-app.
 */
export async function endApp(
  { roles, oauth }: AccessContext,
  principal: Principal,
  { workspaceId, grantId }: { readonly workspaceId: string; readonly grantId: string },
  visitor: Visitor,
): Promise<void> {
  requireScope(principal, 'admin');
  await roles.requirePermission(principal, workspaceId, 'keys.manage');
  const by = { ownerId: principal.userId, visitor };
  if (!(await oauth.grants.revokeIn(workspaceId, grantId, by))) throw new Fault('not_found');
}

async function requireView(roles: AccessContext['roles'], principal: Principal, workspaceId: string): Promise<void> {
  requireScope(principal, 'admin');
  await roles.requirePermission(principal, workspaceId, 'access.view');
}

/** Times to the microsecond, then ids, both as text, which sorts as they do. */
function newestFirst(a: ListedEvent, b: ListedEvent): number {
  const [one, other] = [`${a.place} ${a.id}`, `${b.place} ${b.id}`];
  return one < other ? 1 : -1;
}

const KIND_OF_CHANGE = { INSERT: 'member-joined', UPDATE: 'member-role-changed', DELETE: 'member-left' } as const;

function eventOfChange(workspaceId: string, change: MembershipChange): ListedEvent {
  const { id, at, action, membershipId: subjectId, userId, role, actorId } = change;
  return {
    id,
    at: new Date(at),
    place: at,
    kind: KIND_OF_CHANGE[action],
    userId,
    workspaceId,
    subjectId,
    actor: 'person',
    actorId,
    network: null,
    browser: null,
    details: { role },
  };
}

function placeOf(event: ListedEvent | undefined): string | null {
  return event === undefined ? null : `${event.place}_${event.id}`;
}

/** A member may be in other workspaces: where they sign in from, and what they call a key for all of them, is not for this one. */
function eventOf(event: ListedEvent): WorkspaceEvent {
  const { id, at, kind, userId, workspaceId, actor, actorId, subjectId, network, browser } = event;
  const isOfWorkspace = workspaceId !== null;
  const shown = isOfWorkspace ? event : { kind, details: withoutNames(event.details) };
  return {
    id,
    at: at.toISOString(),
    kind,
    text: sentenceOf(shown)
      .map(({ text }) => text)
      .join(''),
    userId,
    actor,
    actorId,
    subjectId,
    network: isOfWorkspace ? network : null,
    browser: isOfWorkspace ? browser : null,
  };
}

function withoutNames({ label, prefix, factor, passkey, ...details }: StoredEvent['details']): StoredEvent['details'] {
  return {
    ...details,
    ...(label === undefined ? {} : { label: `${prefix ?? ''}…` }),
    ...(typeof factor === 'string' ? { factor: factor.startsWith('the passkey') ? 'a passkey' : factor } : {}),
    ...(passkey === undefined ? {} : { passkey: 'of this person' }),
  };
}

function appOf({ redirectUri, createdAt, lastUsedAt, expiresAt, ...app }: StoredApp): WorkspaceApp {
  return {
    ...app,
    redirectHost: redirectUri === null || !URL.canParse(redirectUri) ? null : hostOf(new URL(redirectUri)),
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  };
}

const hostOf = ({ host, protocol }: URL): string => (host === '' ? protocol : host);
