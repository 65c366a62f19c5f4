import { randomUUID } from 'node:crypto';
import type { Call } from '../call.ts';
import { CliFault } from '../fault.ts';
import { faultOf, refusalFault } from '../session/fault-of.ts';
import { CLIENT_ID } from '../session/session.ts';

/** A change by GraphQL: `taskUpdate` of `{ model: 'Task', verb: 'Update' }`. */
interface ChangeKind {
  readonly model: string;
  readonly verb: string;
  /** The fields of the record in the answer. */
  readonly selection: string;
  /** Fields of the answer beside the record. */
  readonly more?: string;
}

interface Payload<Row> {
  readonly record: Row | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** The answer to a change that was accepted. */
export type Changed<Row, More = object> = More & { readonly record: Row };

/**
 * Makes one change. It has a name, and what is created an id, so that a request whose answer was lost is repeated and applied once.
 * Throws a fault when it is refused.
 */
export async function change<Row, More = object>(
  { session, signal }: Call,
  { model, verb, selection, more = '' }: ChangeKind,
  given: { readonly id?: string; readonly input?: object },
): Promise<Changed<Row, More>> {
  const noun = nounOf(model);
  const input = verb === 'Create' ? { id: randomUUID(), ...given.input } : given.input;
  const args = [
    ...(given.id === undefined ? [] : [['id', 'ID!']]),
    ...(input === undefined ? [] : [['input', `${model}${verb}Input!`]]),
    ['clientTxId', 'String'],
  ];
  const mutation = `mutation Cli${model}${verb}(${args.map(([name, type]) => `$${name}: ${type}`).join(', ')}) {
  change: ${noun}${verb}(${args.map(([name]) => `${name}: $${name}`).join(', ')}, clientId: "${CLIENT_ID}") {
    record: ${noun} { ${selection} } ${more} error { code message }
  }
}`;
  const { api } = await session();
  const variables = { id: given.id, input, clientTxId: randomUUID() };
  type Answer = { readonly change: Payload<Row> & More };
  const answer = await api.graphql<Answer>(mutation, variables, { isRepeatable: true, signal });
  return acceptedOf(answer.change);
}

/** What GraphQL takes at most in a batch. */
const BATCH_MAX = 50;

/** The same change of the records that were found. One that is refused does not stop the others: its outcome is a fault. */
export async function changeMany<Row, More = object>(
  { session, signal }: Call,
  { model, verb, selection, more = '' }: ChangeKind,
  found: readonly Outcome<{ readonly id: string }>[],
  input?: object,
): Promise<Outcome<Changed<Row, More>>[]> {
  const noun = nounOf(model);
  const [declared, passed] = input === undefined ? ['', ''] : [`, $input: ${model}UpdateInput!`, ', input: $input'];
  const mutation = `mutation Cli${model}${verb}Batch($ids: [ID!]!, $clientTxId: String${declared}) {
  change: ${noun}Batch${verb}(ids: $ids${passed}, clientTxId: $clientTxId, clientId: "${CLIENT_ID}") {
    results { record: ${noun} { ${selection} } ${more} error { code message } } error { code message }
  }
}`;
  const { api } = await session();
  const ids = resultsOf(found).map(({ id }) => id);
  const changed: (Changed<Row, More> | CliFault)[] = [];
  for (let from = 0; from < ids.length; from += BATCH_MAX) {
    const some = ids.slice(from, from + BATCH_MAX);
    const variables = { ids: some, input, clientTxId: randomUUID() };
    type Answer = {
      readonly change: { readonly results: readonly (Payload<Row> & More)[]; readonly error: Payload<Row>['error'] };
    };
    const answer = await api.graphql<Answer>(mutation, variables, { isRepeatable: true, signal });
    if (answer.change.error !== null) throw refusalFault(answer.change.error);
    for (const result of answer.change.results) changed.push(await settled(() => acceptedOf(result)));
  }
  return found.map(({ word, result }) => ({
    word,
    result: result instanceof CliFault ? result : (changed.shift() as Changed<Row, More>),
  }));
}

function nounOf(model: string): string {
  return `${model.charAt(0).toLowerCase()}${model.slice(1)}`;
}

function acceptedOf<Row, More>(payload: Payload<Row> & More): Changed<Row, More> {
  const { error, record } = payload;
  if (error !== null) throw refusalFault(error);
  if (record === null)
    throw new CliFault('refused', 'The change was made before, and its record does not exist any more.');
  return { ...payload, record };
}

/** What a step of several things gave: its fault does not stop the others. */
export async function settled<T>(work: () => T | Promise<T>): Promise<T | CliFault> {
  try {
    return await work();
  } catch (error) {
    return faultOf(error);
  }
}

/** What became of several things that a person named. */
export interface Outcome<Row> {
  readonly word: string;
  readonly result: Row | CliFault;
}

/** Of those that did not fail. */
export function resultsOf<Row>(outcomes: readonly Outcome<Row>[]): Row[] {
  return outcomes.flatMap(({ result }) => (result instanceof CliFault ? [] : [result]));
}

/**
 * Keeps cli.batch.partly. Throws when some of several things failed: the fault itself when nothing was done, else one of `partly` that says what became of
 * each.
 */
export function throwIfRefused(outcomes: readonly Outcome<object>[]): void {
  const refused = outcomes.flatMap(({ word, result }) => (result instanceof CliFault ? [{ word, fault: result }] : []));
  const [first] = refused;
  if (first === undefined) return;
  const lines = refused.map(({ word, fault }) => `  ${word}: ${fault.message}`);
  if (refused.length < outcomes.length)
    throw new CliFault(
      'partly',
      `${refused.length} of ${outcomes.length} failed, the others are done.\n${lines.join('\n')}`,
    );
  if (refused.length === 1) throw first.fault;
  throw new CliFault(first.fault.exit, `All ${refused.length} failed.\n${lines.join('\n')}`, {
    code: first.fault.code,
  });
}
