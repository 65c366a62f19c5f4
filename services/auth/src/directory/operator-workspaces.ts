import type { OperatorWorkspace, operatorApi, RecordCounts, ReplyOf } from '@wts/contracts';
import type { PersonStates } from '../store/person-states.ts';
import type { Directory } from './directory.ts';
import { awayCells, type Gathered } from './gather.ts';
import type { Page } from '../store/operator-page.ts';

export type OperatorWorkspaces = ReturnType<typeof operatorWorkspaces>;

/** What operators see of workspaces. */
export function operatorWorkspaces(directory: Directory, states: PersonStates) {
  return {
    /** By cell, and there by name. */
    list: ({ text, after, limit }: Page): Promise<Gathered<OperatorWorkspace>> =>
      directory.findWorkspaces({ text, limit, ...(after === null ? {} : { after }) }),
    find: async (id: string): Promise<OperatorWorkspace | null> =>
      (await directory.findWorkspaces({ id, limit: 1 })).found[0] ?? null,
    findByUrlKey: async (urlKey: string): Promise<OperatorWorkspace | null> =>
      (await directory.findWorkspaces({ urlKey, limit: 1 })).found[0] ?? null,
    usage: async (): Promise<ReplyOf<typeof operatorApi.readUsage>['usage']> => {
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
