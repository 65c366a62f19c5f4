import type { Names, WorkspaceRef } from '@wts/client/names';
import type { Action, Call } from '../call.ts';
import { CliFault } from '../fault.ts';
import { given } from '../options.ts';
import type { ChangedRecord } from '../output/output.ts';
import type { Detail, View } from '../output/view.ts';
import { selectionOf, type Fields } from '../records/fields.ts';
import { faultOf } from '../session/fault-of.ts';
import { confirmTyped } from './ask.ts';
import { change, changeMany, resultsOf, throwIfRefused, type Outcome } from './changes.ts';
import { limitOf, noteMore, pagesOf } from './pages.ts';

export interface NamedRow {
  readonly id: string;
  readonly name: string;
  readonly key?: string;
  readonly archivedAt: string | null;
}

/** What projects, teams and labels have in common: a name, perhaps a key, and that they can be archived. */
export interface Noun<Row extends NamedRow> {
  readonly model: string;
  readonly plural: string;
  readonly fields: Fields;
  readonly view: View<Row>;
  readonly details: (row: Row, call: Call) => readonly Detail[];
  /** What `list` leaves out. */
  readonly filterOf?: (call: Call, names: Names, workspace: WorkspaceRef | null) => Promise<readonly object[]>;
  /** The fields that options set. */
  readonly inputOf: (call: Call, workspace: WorkspaceRef) => Promise<object>;
  readonly find: (names: Names, word: string, workspace: WorkspaceRef) => Promise<string>;
}

/** What can be done with a noun, of which its module exports what it has. */
export function actionsOf<Row extends NamedRow>(noun: Noun<Row>) {
  const step =
    (verb: string, past: string): Action =>
    (call) =>
      stepNouns(call, noun, verb, past);
  return {
    list: (call) => listNouns(call, noun),
    show: (call) => showNoun(call, noun),
    add: (call) => addNoun(call, noun),
    edit: (call) => editNoun(call, noun),
    done: step('Complete', 'Done:'),
    reopen: step('Reopen', 'Reopened'),
    archive: step('Archive', 'Archived'),
    restore: step('Unarchive', 'Restored'),
    remove: step('Delete', 'Deleted'),
  } as const satisfies Readonly<Record<string, Action>>;
}

const LIMIT_DEFAULT = 100;

async function listNouns<Row extends NamedRow>(call: Call, noun: Noun<Row>): Promise<void> {
  const { options, output, session } = call;
  const { names: openNames, workspaceOrAll } = await session();
  const [names, workspace] = [await openNames(), await workspaceOrAll()];
  const conditions = [
    ...(workspace === null ? [] : [{ workspaceId: { eq: workspace.id } }]),
    ...(options.flag('archived') ? [{ archivedAt: { null: false } }] : []),
    ...((await noun.filterOf?.(call, names, workspace)) ?? []),
  ];
  const query = `query Cli${noun.model}s($filter: ${noun.model}Filter, $first: Int!, $after: String, $includeArchived: Boolean!) {
  page: ${noun.plural}(filter: $filter, first: $first, after: $after, orderBy: [{name: ASC}], includeArchived: $includeArchived) {
    nodes { ${selectionOf(noun.fields)} } pageInfo { hasNextPage endCursor }
  }
}`;
  const variables = { filter: { and: conditions }, includeArchived: options.flag('archived') };
  const limit = limitOf(call, LIMIT_DEFAULT);
  const { rows, hasMore } = await pagesOf<Row>(call, query, variables, limit);
  await output.list(rows, noun.view);
  if (hasMore) await noteMore(call, limit);
}

async function showNoun<Row extends NamedRow>(call: Call, noun: Noun<Row>): Promise<void> {
  const row = await findNoun(call, noun, call.words[0] ?? '');
  await call.output.record(row, row.id, noun.details(row, call));
}

async function addNoun<Row extends NamedRow>(call: Call, noun: Noun<Row>): Promise<void> {
  const workspace = await (await call.session()).workspace();
  const name = call.words.join(' ');
  const input = { ...(await noun.inputOf(call, workspace)), name, workspaceId: workspace.id };
  const kind = { model: noun.model, verb: 'Create', selection: selectionOf(noun.fields) };
  const { record } = await change<Row>(call, kind, { input });
  await call.output.changed(record, changedNoun('Created', record));
}

async function editNoun<Row extends NamedRow>(call: Call, noun: Noun<Row>): Promise<void> {
  const workspace = await (await call.session()).workspace();
  const { id } = await findNoun(call, noun, call.words[0] ?? '');
  const input = { ...(await noun.inputOf(call, workspace)), ...given({ name: call.options.text('name') }) };
  if (Object.keys(input).length === 0) throw new CliFault('usage', 'Nothing to change was given.');
  const kind = { model: noun.model, verb: 'Update', selection: selectionOf(noun.fields) };
  const { record } = await change<Row>(call, kind, { id, input });
  await call.output.changed(record, changedNoun('Changed', record));
}

/** Archives, restores, completes or deletes each of the named records. */
async function stepNouns<Row extends NamedRow>(call: Call, noun: Noun<Row>, verb: string, past: string): Promise<void> {
  const found = await Promise.all(
    call.words.map(async (word): Promise<Outcome<Row>> => ({
      word,
      result: await findNoun(call, noun, word).catch((error: unknown) => faultOf(error)),
    })),
  );
  if (verb === 'Delete' && !(await mayDelete(call, noun, resultsOf(found)))) return throwIfRefused(found);
  const kind = { model: noun.model, verb, selection: selectionOf(noun.fields) };
  const outcomes = await changeMany<Row>(call, kind, found);
  const made = resultsOf(outcomes).map(({ record }) => record);
  if (made.length > 0) await call.output.changedAll(made, (row) => changedNoun(past, row));
  throwIfRefused(outcomes);
}

async function mayDelete<Row extends NamedRow>(
  call: Call,
  { view }: Noun<Row>,
  rows: readonly Row[],
): Promise<boolean> {
  if (call.options.flag('dryRun')) {
    for (const { name, id } of rows) await call.output.text(`Would delete ${name} (${id})\n`);
    return false;
  }
  const [first] = rows;
  if (first === undefined) return true;
  const what = rows.length === 1 ? `the ${view.nouns[0]} ${first.name}` : `${rows.length} ${view.nouns[1]}`;
  const key = rows.length === 1 ? (first.key ?? first.name) : String(rows.length);
  await confirmTyped(call, `Delete ${what} for good, with what is in it?`, key);
  return true;
}

/** The one record that a word names, also an archived one. */
export async function findNoun<Row extends NamedRow>(call: Call, noun: Noun<Row>, word: string): Promise<Row> {
  const { api, names: openNames, workspace: openWorkspace } = await call.session();
  const [names, workspace] = [await openNames(), await openWorkspace()];
  const query = `query Cli${noun.model}($filter: ${noun.model}Filter!) { found: ${noun.plural}(first: 2, filter: $filter, includeArchived: true) { nodes { ${selectionOf(noun.fields)} } } }`;
  const read = async (condition: object): Promise<readonly Row[]> => {
    const filter = { and: [{ workspaceId: { eq: workspace.id } }, condition] };
    return (await api.graphql<{ found: { nodes: readonly Row[] } }>(query, { filter }, { signal: call.signal })).found
      .nodes;
  };
  const same = { eqIgnoreCase: word };
  const named = 'key' in noun.fields ? [{ name: same }, { key: same }] : [{ name: same }];
  const archived = await read({ archivedAt: { null: false }, or: named });
  // Of those that are not archived, the one that names find takes precedence, and it says which are near.
  const id = await noun.find(names, word, workspace).catch((error: unknown) => {
    if (archived.length === 1) return archived[0]?.id ?? '';
    throw error;
  });
  const [row] = archived.filter((one) => one.id === id).concat(await read({ id: { eq: id } }));
  if (row === undefined) throw new CliFault('not-found', `There is no ${noun.view.nouns[0]} ${JSON.stringify(word)}.`);
  return row;
}

function changedNoun(past: string, { id, key, name }: NamedRow): ChangedRecord {
  return { id, key: key ?? name, line: `${past} ${name}${key === undefined ? '' : ` (${key})`}` };
}
