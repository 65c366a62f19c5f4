import type { Call } from '../call.ts';
import { given } from '../options.ts';
import { LABEL_FIELDS } from '../records/fields.ts';
import { addNoun, editNoun, listNouns, stepNouns, type NamedRow, type Noun } from './nouns.ts';
import { orNull } from './words.ts';

interface LabelRow extends NamedRow {
  readonly color: string | null;
  readonly team: { readonly key: string; readonly name: string } | null;
}

const LABEL: Noun<LabelRow> = {
  model: 'Label',
  plural: 'labels',
  fields: LABEL_FIELDS,
  view: {
    nouns: ['label', 'labels'],
    id: ({ id }) => id,
    columns: [
      { title: 'NAME', value: ({ name }) => name, isCut: true },
      { title: 'COLOR', value: ({ color }) => color },
      { title: 'TEAM', value: ({ team }) => team?.key },
      { title: 'ID', value: ({ id }) => id },
    ],
  },
  details: () => [],
  inputOf: async ({ options, session }, workspace) => {
    const names = await (await session()).names();
    return given({
      color: await orNull(options.text('color'), (word) => word),
      teamId: await orNull(options.text('team'), (word) => names.team(word, workspace)),
    });
  },
  find: (names, word, workspace) => names.label(word, workspace),
};

export const list = (call: Call): Promise<void> => listNouns(call, LABEL);
export const add = (call: Call): Promise<void> => addNoun(call, LABEL);
export const edit = (call: Call): Promise<void> => editNoun(call, LABEL);
export const archive = (call: Call): Promise<void> => stepNouns(call, LABEL, { verb: 'Archive', past: 'Archived' });
export const restore = (call: Call): Promise<void> => stepNouns(call, LABEL, { verb: 'Unarchive', past: 'Restored' });
export const remove = (call: Call): Promise<void> => stepNouns(call, LABEL, { verb: 'Delete', past: 'Deleted' });
