import { Names } from '@wts/client/names';
import type { Graph } from './graph.ts';

const LISTED_BY = {
  workspace: 'list_workspaces',
  project: 'list_projects',
  team: 'list_teams',
  label: 'list_labels',
  person: 'list_members',
  task: 'find_tasks and search',
} as const;

/** What the words of one call name, from lists that its caller may read. */
export function namesOf(graph: Graph): Names {
  return new Names({
    run: (text, variables) => graph.run({ text }, variables),
    userId: graph.caller.principal.userId,
    listedBy: LISTED_BY,
  });
}
