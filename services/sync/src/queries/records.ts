import { Fault, syncApi, type BodyOf, type Contract, type ReplyOf } from '@wts/contracts';
import type { Queryable } from '@wts/log';
import { findModel, unknownModel } from '@wts/models';
import {
  findPeople,
  findPerson,
  membersOf,
  membershipChangesOf,
  membershipDetailsOf,
  recordsOfPerson,
  workspacesOf,
} from '../store/people.ts';
import { countRecords, findWorkspaces } from '../store/workspaces.ts';

/** A read of records for another service. */
export interface RecordRead<C> {
  readonly contract: C;
  /** The person or the workspace that it is about, as one of whom it takes its turn among the pages. */
  readonly turnOf: (body: BodyOf<C>) => string;
  /** Refuses a wrong body at once, so that it takes no turn and no connection. */
  readonly readOf: (body: BodyOf<C>) => (database: Queryable) => Promise<Omit<ReplyOf<C>, 'ok'>>;
}

export function mountable<C extends Contract>(
  contract: C,
  turnOf: RecordRead<C>['turnOf'],
  readOf: RecordRead<C>['readOf'],
): RecordRead<Contract> {
  return { contract, turnOf, readOf } as unknown as RecordRead<Contract>;
}

/** The turns of an operator are those of one person. */
const operator = (): string => 'operator';

/**
 * People, memberships and workspaces as the auth service asks for them, which has no right to read their tables. It decides by them who may
 * do what, so they are read from the primary.
 */
export const RECORD_READS: readonly RecordRead<Contract>[] = [
  mountable(syncApi.internalReadPerson, ({ userId }) => userId, readPerson),
  mountable(
    syncApi.internalListMemberships,
    ({ userId }) => userId,
    ({ userId }) =>
      async (database) => ({ memberships: await membershipDetailsOf(database, userId) }),
  ),
  mountable(
    syncApi.internalListMembers,
    ({ workspaceId }) => workspaceId,
    ({ workspaceId, ...page }) =>
      async (database) => ({ members: await membersOf(database, workspaceId, page) }),
  ),
  mountable(
    syncApi.internalListMembershipChanges,
    ({ workspaceId }) => workspaceId,
    ({ workspaceId, ...page }) =>
      async (database) => ({ changes: await membershipChangesOf(database, workspaceId, page) }),
  ),
  mountable(syncApi.internalFindPeople, operator, (page) => async (database) => ({
    people: await findPeople(database, page),
  })),
  mountable(syncApi.internalFindWorkspaces, operator, (page) => async (database) => ({
    workspaces: await findWorkspaces(database, page),
  })),
  mountable(syncApi.internalCountRecords, operator, () => async (database) => ({
    counts: await countRecords(database),
  })),
  mountable(syncApi.internalListRecordsOfPerson, operator, ({ userId, model: name, ...page }) => {
    const model = findModel(name);
    if (model === undefined) throw new Fault('validation_failed', { message: `body/model: ${unknownModel(name)}` });
    return async (database) => ({ records: await recordsOfPerson(database, userId, { model, ...page }) });
  }),
];

export function readPerson({
  userId,
  workspaceId,
  only,
}: BodyOf<typeof syncApi.internalReadPerson>): ReturnType<RecordRead<typeof syncApi.internalReadPerson>['readOf']> {
  return async (database) => ({
    person: only === 'workspaces' ? null : await findPerson(database, userId),
    workspaces: only === 'person' ? [] : await workspacesOf(database, userId, workspaceId),
  });
}
