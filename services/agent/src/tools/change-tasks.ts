import { AGENT_LIMITS } from '../limits.ts';
import { isFailureCode, sentence, ToolError, unknownAdvice } from '../tool-error.ts';
import type { ChangedTask } from '../views/results.ts';
import { NEXT_TASK, TASK_FRAGMENT, type TaskNode } from '../views/task.ts';
import { CLIENT_ID, resultOf, type Payload } from '../graph/changes.ts';
import { document, type Document, type Graph } from '../graph/graph.ts';

/** A change of one task: the field of the mutation, and its arguments. */
export interface TaskChange {
  readonly id?: string;
  readonly input?: object;
}

/** The kinds of changes, with the types of their arguments. */
const CHANGES = {
  taskCreate: { input: 'TaskCreateInput!' },
  taskUpdate: { id: 'ID!', input: 'TaskUpdateInput!' },
  taskComplete: { id: 'ID!' },
  taskReopen: { id: 'ID!' },
  taskArchive: { id: 'ID!' },
  taskUnarchive: { id: 'ID!' },
} as const;

export type TaskChangeKind = keyof typeof CHANGES;

interface TaskPayload extends Payload, Pick<ChangedTask, 'hiddenBy' | 'next'> {
  readonly task: TaskNode | null;
}

/** What the answers to some changes have besides the task. */
const MORE: Partial<Record<TaskChangeKind, string>> = { taskUnarchive: 'hiddenBy', taskComplete: `next ${NEXT_TASK}` };

type ChangeDocument = Document<Readonly<Record<string, TaskPayload>>, Record<string, unknown>>;

const DOCUMENTS = new Map<string, ChangeDocument>();

/** One mutation with a number of changes, each with its own name, so that a repeated call repeats none of them. */
function documentOf(kind: TaskChangeKind, count: number): ChangeDocument {
  const key = `${kind} ${count}`;
  const known = DOCUMENTS.get(key);
  if (known !== undefined) return known;
  const parameters = Object.entries({ ...CHANGES[kind], clientTxId: 'String!' });
  const indexes = Array.from({ length: count }, (_, index) => index);
  const variables = indexes.flatMap((index) => parameters.map(([name, type]) => `$${name}${index}: ${type}`));
  const answer = `task { ...TaskFields } ${MORE[kind] ?? ''} error { code message }`;
  const fields = indexes.map((index) => {
    const given = parameters.map(([name]) => `${name}: $${name}${index}`).join(', ');
    return `  c${index}: ${kind}(${given}, clientId: "${CLIENT_ID}") { ${answer} }`;
  });
  const made: ChangeDocument = document(
    `mutation Agent_${kind}(${variables.join(', ')}) {\n${fields.join('\n')}\n}`,
    TASK_FRAGMENT,
  );
  DOCUMENTS.set(key, made);
  return made;
}

/**
 * Makes changes in their order, a few in each request. A refused change does not stop the others; each has a name,
 * so that the same call repeated with the same key makes none of them twice. Keeps agent.tools.idempotency.
 */
export async function changeTasks(
  graph: Graph,
  kind: TaskChangeKind,
  changes: readonly { readonly index: number; readonly change: TaskChange }[],
  {
    nameOf,
    idempotencyKey,
  }: { readonly nameOf: (index: number) => string; readonly idempotencyKey?: string | undefined },
): Promise<ReadonlyMap<number, ChangedTask | ToolError>> {
  const outcomes = new Map<number, ChangedTask | ToolError>();
  const { changesOfRequestMax: max } = AGENT_LIMITS;
  for (let from = 0; from < changes.length; from += max) {
    const some = changes.slice(from, from + max);
    const variables: Record<string, unknown> = {};
    for (const [at, { index, change }] of some.entries()) {
      variables[`clientTxId${at}`] = nameOf(index);
      if (change.id !== undefined) variables[`id${at}`] = change.id;
      if (change.input !== undefined) variables[`input${at}`] = change.input;
    }
    // One after the other, so that the tasks get their numbers in the order of the call.
    const payloads = await request(graph, documentOf(kind, some.length), variables, outcomes.size > 0);
    for (const [at, { index }] of some.entries()) {
      const outcome = payloads instanceof ToolError ? payloads : outcomeOf(payloads[`c${at}`]);
      outcomes.set(index, outcome instanceof ToolError ? advised(outcome, kind, idempotencyKey) : outcome);
    }
  }
  return outcomes;
}

/** Once something was changed, a failure is the outcome of the changes of its request only: the answer must have the others too. */
async function request(
  graph: Graph,
  changes: ChangeDocument,
  variables: Record<string, unknown>,
  hasChanged: boolean,
): Promise<Readonly<Record<string, TaskPayload>> | ToolError> {
  try {
    return await graph.run(changes, variables);
  } catch (error) {
    if (!hasChanged) throw error;
    return error instanceof ToolError
      ? error
      : new ToolError('unavailable', 'A part of the service gave no answer in time.', { cause: error });
  }
}

/** After a failure of this system it is unknown whether the change was made. */
function advised(error: ToolError, kind: TaskChangeKind, idempotencyKey: string | undefined): ToolError {
  if (!isFailureCode(error.code)) return error;
  const advice = kind === 'taskCreate' ? unknownAdvice(idempotencyKey) : 'It may be changed or not: repeat it.';
  return new ToolError(error.code, `${sentence(error.message)} ${advice}`, { cause: error });
}

function outcomeOf(payload: TaskPayload | undefined): ChangedTask | ToolError {
  try {
    const { task = null, hiddenBy = null, next = null } = payload ?? {};
    return { ...resultOf(payload, task), hiddenBy, next };
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
}
