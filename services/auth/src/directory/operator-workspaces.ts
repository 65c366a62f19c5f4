import type { OperatorWorkspace, operatorApi, ReplyOf } from '@wts/contracts';
import type { PersonStates } from '../store/person-states.ts';
import type { Directory } from './directory.ts';
import type { Page } from '../store/operator-page.ts';

/** What operators see of workspaces. */
export interface OperatorWorkspaces extends Pick<Directory, 'membershipDetails'> {
  /** By name. */
  list(page: Page): Promise<OperatorWorkspace[]>;
  find(workspaceId: string): Promise<OperatorWorkspace | null>;
  findByUrlKey(urlKey: string): Promise<OperatorWorkspace | null>;
  usage(): Promise<ReplyOf<typeof operatorApi.readUsage>['usage']>;
}

export function operatorWorkspaces(directory: Directory, states: PersonStates): OperatorWorkspaces {
  return {
    membershipDetails: (userId) => directory.membershipDetails(userId),
    list: async ({ text, after, limit }) => [
      ...(await directory.findWorkspaces({ text, limit, ...(after === null ? {} : { after }) })),
    ],
    find: async (id) => (await directory.findWorkspaces({ id, limit: 1 }))[0] ?? null,
    findByUrlKey: async (urlKey) => (await directory.findWorkspaces({ urlKey, limit: 1 }))[0] ?? null,
    usage: async () => {
      const [{ people, database, ...counts }, own] = await Promise.all([directory.counts(), states.counts()]);
      const ownBytes = own.database.id === database.id ? 0 : own.database.bytes;
      return {
        ...counts,
        people: people - own.peopleErased,
        peopleDisabled: own.peopleDisabled,
        peopleActive: own.peopleActive,
        databaseBytes: database.bytes + ownBytes,
      };
    },
  };
}
