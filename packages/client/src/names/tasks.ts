import { NameError } from './name-error.ts';
import type { Names, WorkspaceRef } from './names.ts';
import { isUuid } from './uuid.ts';

/** A task that exists and that the caller may see. */
export interface TaskRef {
  readonly id: string;
  readonly workspaceId: string;
  readonly key: string;
}

interface TaskNode {
  readonly id: string;
  readonly number: number;
  readonly workspaceId: string;
  readonly workspace: { readonly urlKey: string } | null;
}

const TASKS = `query TaskNames($filter: TaskFilter!) {
  tasks(first: 100, filter: $filter, includeArchived: true) { nodes { id number workspaceId workspace { urlKey } } }
}`;

/** For people, such as ACME-12. */
export function taskKey(urlKey: string, number: number): string {
  return `${urlKey.toUpperCase()}-${number}`;
}

/** The key of a task is that of its workspace, which may have hyphens, and its number. */
const KEY = /^(?:([A-Za-z0-9-]+)-|#?)(\d{1,9})$/;

/**
 * The tasks that words name: an id, a key such as `ACME-12`, or a number with the workspace. For each word a task, or why there is
 * none; one request for all of them.
 */
export async function tasksOf(
  words: readonly string[],
  workspaceWord: string | undefined,
  names: Names,
): Promise<(TaskRef | NameError)[]> {
  const read = await Promise.all(words.map((word) => readWord(word.trim(), workspaceWord, names)));
  const filters = read.flatMap((one) => (one instanceof NameError ? [] : [one.filter]));
  const variables = { filter: { or: filters } };
  const nodes =
    filters.length === 0 ? [] : (await names.run<{ tasks: { nodes: TaskNode[] } }>(TASKS, variables)).tasks.nodes;
  return read.map((one, index) => {
    if (one instanceof NameError) return one;
    const node = nodes.find(one.matches);
    if (node === undefined) {
      const message = `No task ${JSON.stringify(words[index])} exists, or it may not be seen.`;
      return new NameError('not_found', message);
    }
    const { id, workspaceId, number, workspace } = node;
    const key = taskKey(workspace?.urlKey ?? '', number);
    if (one.workspace !== undefined && one.workspace.id !== workspaceId)
      return inAnother(`The task ${key}`, workspaceWord);
    return { id, workspaceId, key };
  });
}

/** The one task that a word names. Throws a NameError. */
export async function taskOf(word: string, workspaceWord: string | undefined, names: Names): Promise<TaskRef> {
  const [task] = await tasksOf([word], workspaceWord, names);
  if (task === undefined || task instanceof NameError) throw task ?? new Error('one word names one task');
  return task;
}

interface ReadWord {
  readonly filter: object;
  readonly matches: (node: TaskNode) => boolean;
  /** Where the task must be. */
  readonly workspace?: WorkspaceRef;
}

async function readWord(word: string, workspaceWord: string | undefined, names: Names): Promise<ReadWord | NameError> {
  try {
    if (isUuid(word)) {
      const id = word.toLowerCase();
      const within = workspaceWord === undefined ? {} : { workspace: await names.workspace(workspaceWord) };
      return { filter: { id: { eq: id } }, matches: (node) => node.id === id, ...within };
    }
    const [, urlKey, digits] = KEY.exec(word) ?? [];
    if (digits === undefined) {
      const message = `${JSON.stringify(word)} is no task. Use its key such as ACME-12, its id, or its number with \`workspace\`. ${names.listedBy.task} find tasks by words.`;
      return new NameError('bad_user_input', message);
    }
    const number = Number(digits);
    const { id: workspaceId } = await workspaceOf(urlKey, workspaceWord, names);
    return {
      filter: { workspaceId: { eq: workspaceId }, number: { eq: number } },
      matches: (node) => node.workspaceId === workspaceId && node.number === number,
    };
  } catch (error) {
    if (error instanceof NameError) return error;
    throw error;
  }
}

/** The workspace that the prefix of a key and the argument `workspace` name, which must be the same one. */
async function workspaceOf(
  urlKey: string | undefined,
  workspaceWord: string | undefined,
  names: Names,
): Promise<WorkspaceRef> {
  if (urlKey === undefined) return names.workspace(workspaceWord);
  const workspace = await names.workspaceOfKey(urlKey);
  if (workspaceWord === undefined) return workspace;
  const { id } = await names.workspace(workspaceWord);
  if (id === workspace.id) return workspace;
  throw inAnother(`A task with the key ${urlKey.toUpperCase()}`, workspaceWord);
}

function inAnother(task: string, workspaceWord: string | undefined): NameError {
  const message = `${task} is not in the workspace ${JSON.stringify(workspaceWord)}. Leave \`workspace\` out, or correct one of them.`;
  return new NameError('bad_user_input', message);
}
