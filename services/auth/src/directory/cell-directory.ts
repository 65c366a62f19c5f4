import { servicePrincipal } from '@wts/access';
import { Fault, syncApi, type BodyOf, type Contract, type ReplyOf } from '@wts/contracts';
import type { ServiceClient } from '@wts/service-kit/call';
import type { Cell } from '../cells/cells.ts';

type CellDirectory = ReturnType<typeof openCellDirectory>;

/** One cell, and what it says about its people and workspaces. */
export interface AskedCell extends CellDirectory, Cell {}

/**
 * The people, workspaces and memberships of one cell, which are records of its sync service. Each answer is of what is committed when it
 * is made: this service keeps no copy that could be late, and its database may be another one. A failed call is `unavailable`, so who cannot
 * be looked up is let in nowhere.
 */
export function openCellDirectory(sync: ServiceClient, timeoutMs?: number) {
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
    /** Null for an unknown one. */
    person: async (userId: string) => (await ask(syncApi.internalReadPerson, { userId, only: 'person' })).person,
    /** The workspaces of a person by name, deleted ones too. */
    workspacesOf: async (userId: string) =>
      (await ask(syncApi.internalReadPerson, { userId, only: 'workspaces' })).workspaces,
    roleIn: async (userId: string, workspaceId: string) => {
      const { workspaces } = await ask(syncApi.internalReadPerson, { userId, workspaceId, only: 'workspaces' });
      return workspaces[0]?.role ?? null;
    },
    /** With what decides about the end of each. */
    membershipDetails: async (userId: string) => (await ask(syncApi.internalListMemberships, { userId })).memberships,
    members: async (page: BodyOf<typeof syncApi.internalListMembers>) =>
      (await ask(syncApi.internalListMembers, page)).members,
    membershipChanges: async (page: BodyOf<typeof syncApi.internalListMembershipChanges>) =>
      (await ask(syncApi.internalListMembershipChanges, page)).changes,
    findPeople: async (page: BodyOf<typeof syncApi.internalFindPeople>) =>
      (await ask(syncApi.internalFindPeople, page)).people,
    findWorkspaces: async (page: BodyOf<typeof syncApi.internalFindWorkspaces>) =>
      (await ask(syncApi.internalFindWorkspaces, page)).workspaces,
    counts: async () => (await ask(syncApi.internalCountRecords, {})).counts,
    recordsOfPerson: async (page: BodyOf<typeof syncApi.internalListRecordsOfPerson>) =>
      (await ask(syncApi.internalListRecordsOfPerson, page)).records,
  };
}
