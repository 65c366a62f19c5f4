import type { WorkspaceRef } from '@wts/client/names';
import { dayOf, PRIORITIES, todayIn } from '@wts/models/words';
import type { Call } from '../call.ts';
import { given } from '../options.ts';
import { readText } from './texts.ts';
import { orNull } from './words.ts';

/** The lists into which a task is put by its plan alone. */
const PLANS: Readonly<Record<string, string>> = { inbox: 'not_started', anytime: 'started', someday: 'someday' };

/** The input of GraphQL for the options that set fields of a task: names become ids, words become days, `none` removes a value. */
export async function taskInputOf(
  { options, io, session }: Call,
  workspace: WorkspaceRef,
): Promise<Readonly<Record<string, unknown>>> {
  const names = await (await session()).names();
  const today = todayIn(io.timezone, io.now());
  const labelsOf = async (name: string): Promise<readonly string[] | undefined> => {
    const words = options.list(name);
    if (words.length === 0) return undefined;
    return words.length === 1 && words[0]?.toLowerCase() === 'none' ? [] : names.labels(words, workspace);
  };
  const [priority, list] = [options.text('priority'), options.text('list')];
  return given({
    description: await readText(options.text('description'), io),
    projectId: await orNull(options.text('project'), (word) => names.project(word, workspace)),
    teamId: await orNull(options.text('team'), (word) => names.team(word, workspace)),
    assigneeId: await orNull(options.text('assignee'), (word) => names.person(word, workspace)),
    priority: priority === undefined ? undefined : PRIORITIES.findIndex((word) => word === priority),
    start: list === undefined ? undefined : PLANS[list],
    startDate: await orNull(options.text('start'), (word) => dayOf(word, today)),
    deadlineAt: await orNull(options.text('due'), (word) => dayOf(word, today)),
    labelIds: await labelsOf('label'),
  });
}
