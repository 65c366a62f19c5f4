import { reference, text } from '../field.ts';
import { model } from '../model.ts';

export const Label = model({
  name: 'Label',
  table: 'labels',
  doc: 'A label for tasks, of the whole workspace or of one team.',
  audience: { kind: 'workspace' },
  archivable: true,
  permissions: { insert: 'contribute', update: 'contribute', delete: 'contribute' },
  search: ['name'],
  fields: {
    workspaceId: reference('Workspace', 'delete', { doc: 'The workspace it belongs to.', immutable: true }),
    teamId: reference('Team', 'clear', {
      doc: 'The team whose label it is; null for the whole workspace.',
      nullable: true,
    }),
    name: text({ min: 1, max: 100 }, { doc: 'Name, shown on tasks.' }),
    // Keeps sync.mutate.color.
    color: text(
      { min: 4, max: 7, pattern: /^#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$/, words: 'must be #rgb or #rrggbb' },
      { doc: 'Color as `#rgb` or `#rrggbb`.', nullable: true },
    ),
  },
});
