import { servicePrincipal } from '@wts/access';
import {
  Fault,
  syncApi,
  type BodyOf,
  type Contract,
  type MemberRecord,
  type MembershipChange,
  type MembershipDetail,
  type OperatorWorkspace,
  type PersonRecord,
  type RecordCounts,
  type ReplyOf,
  type Role,
  type WorkspaceOfPerson,
} from '@wts/contracts';
import type { ServiceClient } from '@wts/service-kit/call';
import type { Cell } from '../cells/cells.ts';

/**
 * The people, workspaces and memberships of one cell, which are records of its sync service. Each answer is of what is committed when it
 * is made: this service keeps no copy that could be late, and its database may be another one.
 */
export interface CellDirectory {
  /** Null for an unknown one. */
  person(userId: string): Promise<PersonRecord | null>;
  /** The workspaces of a person by name, deleted ones too. */
  workspacesOf(userId: string): Promise<readonly WorkspaceOfPerson[]>;
  roleIn(userId: string, workspaceId: string): Promise<Role | null>;
  /** With what decides about the end of each. */
  membershipDetails(userId: string): Promise<readonly MembershipDetail[]>;
  members(page: BodyOf<typeof syncApi.internalListMembers>): Promise<readonly MemberRecord[]>;
  membershipChanges(page: BodyOf<typeof syncApi.internalListMembershipChanges>): Promise<readonly MembershipChange[]>;
  findPeople(
    page: BodyOf<typeof syncApi.internalFindPeople>,
  ): Promise<ReplyOf<typeof syncApi.internalFindPeople>['people']>;
  findWorkspaces(page: BodyOf<typeof syncApi.internalFindWorkspaces>): Promise<readonly OperatorWorkspace[]>;
  counts(): Promise<RecordCounts>;
  recordsOfPerson(
    page: BodyOf<typeof syncApi.internalListRecordsOfPerson>,
  ): Promise<ReplyOf<typeof syncApi.internalListRecordsOfPerson>['records']>;
}

/** One cell, and what it says about its people and workspaces. */
export interface AskedCell extends CellDirectory, Cell {}

/** A failed call is `unavailable`, so who cannot be looked up is let in nowhere. */
export function openCellDirectory(sync: ServiceClient, timeoutMs?: number): CellDirectory {
  const principal = servicePrincipal('auth');
  const deadline = timeoutMs === undefined ? {} : { timeoutMs };
  const ask = <C extends Contract>(contract: C, body: BodyOf<C>): Promise<ReplyOf<C>> =>
    sync.call(contract, { principal, body, idempotent: true, ...deadline }).catch((error: unknown) => {
      // No such operation: a version of sync before them. That says nothing about the record.
      if (error instanceof Fault && error.code === 'not_found')
        throw new Fault('unavailable', { message: 'A part of the service is being updated. Try again.', cause: error });
      throw error;
    });
  return {
    person: async (userId) => (await ask(syncApi.internalReadPerson, { userId, only: 'person' })).person,
    workspacesOf: async (userId) => (await ask(syncApi.internalReadPerson, { userId, only: 'workspaces' })).workspaces,
    roleIn: async (userId, workspaceId) => {
      const { workspaces } = await ask(syncApi.internalReadPerson, { userId, workspaceId, only: 'workspaces' });
      return workspaces[0]?.role ?? null;
    },
    membershipDetails: async (userId) => (await ask(syncApi.internalListMemberships, { userId })).memberships,
    members: async (page) => (await ask(syncApi.internalListMembers, page)).members,
    membershipChanges: async (page) => (await ask(syncApi.internalListMembershipChanges, page)).changes,
    findPeople: async (page) => (await ask(syncApi.internalFindPeople, page)).people,
    findWorkspaces: async (page) => (await ask(syncApi.internalFindWorkspaces, page)).workspaces,
    counts: async () => (await ask(syncApi.internalCountRecords, {})).counts,
    recordsOfPerson: async (page) => (await ask(syncApi.internalListRecordsOfPerson, page)).records,
  };
}
