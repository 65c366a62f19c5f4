import { given } from '../options.ts';
import { LABEL_FIELDS } from '../records/fields.ts';
import { actionsOf, type NamedRow, type Noun } from './nouns.ts';
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

export const { list, add, edit, archive, restore, remove } = actionsOf(LABEL);
