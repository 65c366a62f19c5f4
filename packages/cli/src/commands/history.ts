import type { Call } from '../call.ts';
import { agoColumn, type View } from '../output/view.ts';
import { findTask } from './find-task.ts';
import { actionText, fieldsText } from '../records/entry.ts';
import { limitOf, pagesOf } from './pages.ts';
import { isId } from './pick.ts';

interface EntryRow {
  readonly syncId: string;
  readonly action: string;
  readonly modelName: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly actor: { readonly name: string } | null;
  readonly clientId: string;
  readonly createdAt: string;
}

const VIEW: View<EntryRow> = {
  nouns: ['entry', 'entries'],
  id: ({ syncId }) => syncId,
  columns: [
    agoColumn('WHEN', ({ createdAt }) => createdAt),
    { title: 'WHO', value: ({ actor }) => actor?.name, shown: ({ actor }) => actor?.name ?? 'the service' },
    {
      title: 'WHAT',
      value: ({ action }) => action,
      shown: (row) => `${actionText(row)} ${fieldsText(row)}`.trim(),
      isCut: true,
    },
    // A person reads both in one column, which is the last that a narrow terminal leaves out.
    { title: 'FIELDS', value: fieldsText, shown: () => '' },
    { title: 'POSITION', value: ({ syncId }) => syncId, isRight: true, style: () => 'dim' },
    { title: 'BY', value: ({ clientId }) => clientId, isCut: true, style: () => 'dim' },
  ],
};

const HISTORY = `query CliHistory($modelId: ID!, $first: Int!, $after: String) {
  page: history(modelId: $modelId, first: $first, after: $after) {
    nodes { syncId action modelName modelId data groupId actor { id name } clientId clientTxId createdAt }
    pageInfo { hasNextPage endCursor }
  }
}`;

/** Of a task, or of any record by its id, also of a deleted one. */
export async function history(call: Call): Promise<void> {
  const [word = ''] = call.words;
  const modelId = isId(word) ? word : (await findTask(word, call)).id;
  const { rows } = await pagesOf<EntryRow>(call, HISTORY, { modelId }, limitOf(call, 50));
  await call.output.list(rows, VIEW);
}
