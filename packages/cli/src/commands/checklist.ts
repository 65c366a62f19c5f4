import type { Call } from '../call.ts';
import { CliFault, usageFault } from '../fault.ts';
import type { Column, View } from '../output/view.ts';
import { given } from '../options.ts';
import { CHECKLIST_FIELDS, selectionOf } from '../records/fields.ts';
import { change, changeMany, resultsOf, throwIfRefused } from './changes.ts';
import { findTask } from './find-task.ts';

interface ItemRow {
  readonly id: string;
  readonly title: string;
  readonly completedAt: string | null;
}

const VIEW: View<ItemRow> = {
  nouns: ['item', 'items'],
  id: ({ id }) => id,
  columns: [
    {
      title: 'DONE',
      value: ({ completedAt }) => completedAt,
      shown: ({ completedAt }) => (completedAt === null ? '[ ]' : '[x]'),
    },
    {
      title: 'TITLE',
      value: ({ title }) => title,
      isCut: true,
      style: ({ completedAt }) => (completedAt === null ? undefined : 'dim'),
    },
    { title: 'ID', value: ({ id }) => id, style: () => 'dim' },
  ],
};

const ITEM = { model: 'TaskChecklistItem', selection: selectionOf(CHECKLIST_FIELDS) };
const ITEMS = `query CliChecklist($taskId: ID!) {
  items: taskChecklistItems(first: 100, filter: {taskId: {eq: $taskId}}, orderBy: [{sortOrder: ASC}]) { nodes { ${ITEM.selection} } }
}`;

export async function list(call: Call): Promise<void> {
  const { id } = await findTask(call.words[0] ?? '', call);
  const rows = await itemsOf(call, id);
  const number: Column<ItemRow> = { title: 'NO', value: (row) => rows.indexOf(row) + 1, isRight: true };
  await call.output.list(rows, { ...VIEW, columns: [number, ...VIEW.columns] });
}

/** New items come last, each as one word of the shell, or one line of stdin. */
export async function add(call: Call): Promise<void> {
  const [word = '', ...titles] = call.words;
  const { id: taskId, workspaceId } = await findTask(word, call);
  if (titles.length === 0)
    throw usageFault('An item needs a title.', 'Such as: wts checklist add ACME-12 "First step" "Second step"');
  const rows: ItemRow[] = [];
  let after = (await itemsOf(call, taskId)).at(-1)?.id;
  for (const title of titles) {
    const input = given({ taskId, workspaceId, title, place: after === undefined ? after : { after } });
    const { record } = await change<ItemRow>(call, { ...ITEM, verb: 'Create' }, { input });
    rows.push(record);
    after = record.id;
  }
  await report(call, 'Added', rows);
}

const step =
  (verb: string, past: string) =>
  async (call: Call): Promise<void> => {
    const [word = '', ...words] = call.words;
    const { id: taskId } = await findTask(word, call);
    const items = await itemsOf(call, taskId);
    const found = words.map((one) => ({ word: one, result: itemOf(one, items) }));
    const outcomes = await changeMany<ItemRow>(call, { ...ITEM, verb }, found);
    const changed = resultsOf(outcomes).map(({ record }) => record);
    await report(call, past, changed);
    throwIfRefused(outcomes);
  };

export const check = step('Complete', 'Done:');
export const uncheck = step('Reopen', 'Open:');
export const remove = step('Delete', 'Deleted');

/** By its number in the list, its id, its title, or a part of its title that no other has. */
function itemOf(word: string, items: readonly ItemRow[]): ItemRow | CliFault {
  const byNumber = /^\d{1,3}$/.test(word) ? items[Number(word) - 1] : undefined;
  const exact = byNumber ?? items.find(({ id, title }) => id === word || title.toLowerCase() === word.toLowerCase());
  if (exact !== undefined) return exact;
  const [one, ...others] = items.filter(({ title }) => title.toLowerCase().includes(word.toLowerCase()));
  if (one === undefined) return new CliFault('not-found', `No item of the checklist is named ${JSON.stringify(word)}.`);
  return others.length === 0
    ? one
    : new CliFault('refused', `${JSON.stringify(word)} may be any of several items. Use the number.`, {
        code: 'ambiguous',
      });
}

async function itemsOf({ session, signal }: Call, taskId: string): Promise<readonly ItemRow[]> {
  const { api } = await session();
  return (await api.graphql<{ items: { nodes: readonly ItemRow[] } }>(ITEMS, { taskId }, { signal })).items.nodes;
}

async function report({ output }: Call, past: string, rows: readonly ItemRow[]): Promise<void> {
  if (rows.length > 0) await output.changedAll(rows, ({ id, title }) => ({ id, key: title, line: `${past} ${title}` }));
}
