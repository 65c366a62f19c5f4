import { contract, internalOf } from '../contract.ts';
import type { Member } from '../members.ts';
import type { OperatorWorkspace } from '../operator/workspaces.ts';
import { objectOf, okBody, timestamp, uuid } from '../parts.ts';
import type { Role } from '../scopes.ts';
import { typed } from '../type-of.ts';

/*
 * What auth reads of people, memberships and workspaces: its database may be another one than that of sync, which owns them. Each
 * answer is of what is committed when it is made, so who is removed is no member of the next one.
 */

const ofAuth = internalOf('auth');

const nameOrNull = { type: ['string', 'null'], maxLength: 1000 } as const;
const list = { type: 'array' } as const;

/** Items of a list at most. */
export const RECORDS_PAGE_MAX = 1000;
const limit = { type: 'integer', minimum: 1, maximum: RECORDS_PAGE_MAX } as const;
/** People whom a caller found by what it knows of them. */
export const FOUND_PEOPLE_MAX = 10_000;

/** A person as others see them. */
export interface PersonRecord {
  readonly userId: string;
  readonly name: string;
  readonly email: string | null;
  readonly createdAt: string;
}

export interface WorkspaceOfPerson {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
}

export const internalReadPerson = contract({
  ...ofAuth,
  id: 'internalReadPerson',
  path: '/internal/records/person',
  summary: 'A person, and their workspaces by name, or one of them; or only a part of it',
  body: objectOf({ userId: uuid }, { workspaceId: uuid, only: { type: 'string', enum: ['person', 'workspaces'] } }),
  reply: {
    status: 200,
    schema: okBody({
      person: typed<PersonRecord | null>({ type: ['object', 'null'] }),
      workspaces: typed<readonly WorkspaceOfPerson[]>(list),
    }),
  },
});

/** A membership of a person, with what decides about its end. */
export interface MembershipDetail {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly urlKey: string;
  readonly role: Role;
  /** When the workspace was deleted; it can be restored for a time. */
  readonly archivedAt: string | null;
  readonly isOnlyOwner: boolean;
}

export const internalListMemberships = contract({
  ...ofAuth,
  id: 'internalListMemberships',
  path: '/internal/records/memberships',
  summary: 'The memberships of a person, by name of the workspace',
  body: objectOf({ userId: uuid }),
  reply: { status: 200, schema: okBody({ memberships: typed<readonly MembershipDetail[]>(list) }) },
});

export const internalListMembers = contract({
  ...ofAuth,
  id: 'internalListMembers',
  path: '/internal/records/members',
  summary: 'Members of a workspace, by id: all, or those who are among some people',
  body: objectOf(
    { workspaceId: uuid, limit },
    { userIds: { type: 'array', maxItems: RECORDS_PAGE_MAX, items: uuid }, after: uuid },
  ),
  reply: { status: 200, schema: okBody({ members: typed<readonly Member[]>(list) }) },
});

/** An entry of the log about a membership. */
export interface MembershipChange {
  readonly id: string;
  /** To the microsecond. */
  readonly at: string;
  readonly action: 'INSERT' | 'UPDATE' | 'DELETE';
  readonly membershipId: string;
  readonly userId: string;
  readonly role: Role;
  readonly actorId: string;
}

export const internalListMembershipChanges = contract({
  ...ofAuth,
  id: 'internalListMembershipChanges',
  path: '/internal/records/membership-changes',
  summary: 'Who joined and left a workspace, and roles that changed, the newest first, while the log has them',
  body: objectOf({ workspaceId: uuid, limit }, { before: objectOf({ at: timestamp, id: uuid }) }),
  reply: { status: 200, schema: okBody({ changes: typed<readonly MembershipChange[]>(list) }) },
});

export const internalFindPeople = contract({
  ...ofAuth,
  id: 'internalFindPeople',
  path: '/internal/records/people',
  summary: 'People by name: all, or those who have a text or are among some',
  body: objectOf(
    { text: nameOrNull, orIds: { type: 'array', maxItems: FOUND_PEOPLE_MAX, items: uuid }, limit },
    { onlyIds: { type: 'boolean', description: 'Those of `orIds` alone.' }, after: uuid },
  ),
  reply: {
    status: 200,
    schema: okBody({ people: typed<readonly (PersonRecord & { readonly workspaces: number })[]>(list) }),
  },
});

export const internalFindWorkspaces = contract({
  ...ofAuth,
  id: 'internalFindWorkspaces',
  path: '/internal/records/workspaces',
  summary: 'Workspaces by name: all, those that have a text, or the one with an id or a urlKey',
  body: objectOf({ limit }, { text: nameOrNull, id: uuid, urlKey: { type: 'string' }, after: uuid }),
  reply: { status: 200, schema: okBody({ workspaces: typed<readonly OperatorWorkspace[]>(list) }) },
});

/** How much there is. */
export interface RecordCounts {
  readonly people: number;
  readonly workspaces: number;
  readonly workspacesDeleted: number;
  readonly tasks: number;
  /** Which database it is, and its size. */
  readonly database: { readonly id: string; readonly bytes: number };
}

export const internalCountRecords = contract({
  ...ofAuth,
  id: 'internalCountRecords',
  path: '/internal/records/counts',
  summary: 'How much there is, which reads whole tables',
  body: { type: 'object', additionalProperties: false, properties: {} },
  reply: { status: 200, schema: okBody({ counts: typed<RecordCounts>({ type: 'object' }) }) },
});

export const internalListRecordsOfPerson = contract({
  ...ofAuth,
  id: 'internalListRecordsOfPerson',
  path: '/internal/records/of-person',
  summary: 'Records of a model that refer to a person, and the person themselves, by id',
  body: objectOf({ userId: uuid, model: { type: 'string' }, after: uuid, limit }),
  reply: {
    status: 200,
    schema: okBody({ records: typed<readonly { readonly id: string; readonly record: object }[]>(list) }),
  },
  errors: ['validation_failed'],
});
