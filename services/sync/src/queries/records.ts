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
interface RecordRead<C> {
  readonly contract: C;
  /** The person or the workspace that it is about, as one of whom it takes its turn among the pages. */
  readonly turnOf: (body: BodyOf<C>) => string;
  readonly read: (database: Queryable, body: BodyOf<C>) => Promise<Omit<ReplyOf<C>, 'ok'>>;
}

function mountable<C extends Contract>(
  contract: C,
  turnOf: RecordRead<C>['turnOf'],
  read: RecordRead<C>['read'],
): RecordRead<Contract> {
  return { contract, turnOf, read } as unknown as RecordRead<Contract>;
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
    async (database, { userId }) => ({ memberships: await membershipDetailsOf(database, userId) }),
  ),
  mountable(
    syncApi.internalListMembers,
    ({ workspaceId }) => workspaceId,
    async (database, { workspaceId, ...page }) => ({ members: await membersOf(database, workspaceId, page) }),
  ),
  mountable(
    syncApi.internalListMembershipChanges,
    ({ workspaceId }) => workspaceId,
    async (database, { workspaceId, ...page }) => ({ changes: await membershipChangesOf(database, workspaceId, page) }),
  ),
  mountable(syncApi.internalFindPeople, operator, async (database, page) => ({
    people: await findPeople(database, page),
  })),
  mountable(syncApi.internalFindWorkspaces, operator, async (database, page) => ({
    workspaces: await findWorkspaces(database, page),
  })),
  mountable(syncApi.internalCountRecords, operator, async (database) => ({ counts: await countRecords(database) })),
  mountable(syncApi.internalListRecordsOfPerson, operator, async (database, { userId, model: name, ...page }) => {
    const model = findModel(name);
    if (model === undefined) throw new Fault('validation_failed', { message: `body/model: ${unknownModel(name)}` });
    return { records: await recordsOfPerson(database, userId, { model, ...page }) };
  }),
];

export async function readPerson(
  database: Queryable,
  { userId, workspaceId, only }: BodyOf<typeof syncApi.internalReadPerson>,
): Promise<Omit<ReplyOf<typeof syncApi.internalReadPerson>, 'ok'>> {
  return {
    person: only === 'workspaces' ? null : await findPerson(database, userId),
    workspaces: only === 'person' ? [] : await workspacesOf(database, userId, workspaceId),
  };
}
