import type { OperatorWorkspace, operatorApi, RecordCounts, ReplyOf } from '@wts/contracts';
import type { PersonStates } from '../store/person-states.ts';
import type { Directory } from './directory.ts';
import { awayCells, type Gathered } from './gather.ts';
import type { Page } from '../store/operator-page.ts';

/** What operators see of workspaces. */
export interface OperatorWorkspaces extends Pick<Directory, 'membershipDetails' | 'cellOf' | 'cells' | 'cellsOf'> {
  /** By cell, and there by name. */
  list(page: Page): Promise<Gathered<OperatorWorkspace>>;
  find(workspaceId: string): Promise<OperatorWorkspace | null>;
  findByUrlKey(urlKey: string): Promise<OperatorWorkspace | null>;
  usage(): Promise<ReplyOf<typeof operatorApi.readUsage>['usage']>;
}

export function operatorWorkspaces(directory: Directory, states: PersonStates): OperatorWorkspaces {
  return {
    ...directory,
    list: ({ text, after, limit }) => directory.findWorkspaces({ text, limit, ...(after === null ? {} : { after }) }),
    find: async (id) => (await directory.findWorkspaces({ id, limit: 1 })).found[0] ?? null,
    findByUrlKey: async (urlKey) => (await directory.findWorkspaces({ urlKey, limit: 1 })).found[0] ?? null,
    usage: async () => {
      const [{ found, away }, own] = await Promise.all([directory.counts(), states.counts()]);
      const sum = (of: (counts: RecordCounts) => number): number => found.reduce((all, one) => all + of(one), 0);
      const isApart = found.every(({ database }) => database.id !== own.database.id);
      return {
        workspaces: sum(({ workspaces }) => workspaces),
        workspacesDeleted: sum(({ workspacesDeleted }) => workspacesDeleted),
        tasks: sum(({ tasks }) => tasks),
        // Everyone is in the first cell; the others have copies.
        people: Math.max(0, ...found.map(({ people }) => people)) - own.peopleErased,
        peopleDisabled: own.peopleDisabled,
        peopleActive: own.peopleActive,
        databaseBytes: sum(({ database }) => database.bytes) + (isApart ? own.database.bytes : 0),
        ...awayCells(away),
      };
    },
  };
}
