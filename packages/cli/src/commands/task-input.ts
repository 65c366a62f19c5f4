import { dayOf, PRIORITIES, todayIn } from '@wts/models/words';
import type { Call } from '../call.ts';
import { readText } from './texts.ts';

/** The input of GraphQL for the options that set fields of a task: names become ids, words become days, `none` removes a value. */
export async function taskInputOf({ options, io, session }: Call): Promise<Readonly<Record<string, unknown>>> {
  const { names: openNames, workspace: openWorkspace } = await session();
  const [names, workspace] = [await openNames(), await openWorkspace()];
  const today = todayIn(io.timezone, io.now());
  const orNull = async <T>(name: string, find: (word: string) => T | Promise<T>): Promise<T | null | undefined> => {
    const word = options.text(name);
    return word === undefined ? undefined : word.toLowerCase() === 'none' ? null : find(word);
  };
  const priority = options.text('priority');
  const labels = options.list('label');
  const input = {
    description: await readText(options.text('description'), io),
    projectId: await orNull('project', (word) => names.project(word, workspace)),
    teamId: await orNull('team', (word) => names.team(word, workspace)),
    assigneeId: await orNull('assignee', (word) => names.person(word, workspace)),
    priority: priority === undefined ? undefined : PRIORITIES.findIndex((word) => word === priority),
    startDate: await orNull('start', (word) => dayOf(word, today)),
    deadlineAt: await orNull('due', (word) => dayOf(word, today)),
    labelIds: labels.length === 0 ? undefined : await names.labels(labels, workspace),
  };
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}
