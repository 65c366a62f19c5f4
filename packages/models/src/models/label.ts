import { reference, text } from '../field.ts';
import { model } from '../model.ts';

export const Label = model({
  name: 'Label',
  table: 'labels',
  doc: 'A mark on tasks, for the whole workspace or one team.',
  audience: { kind: 'workspace' },
  archivable: true,
  permissions: { insert: 'contribute', update: 'contribute', delete: 'contribute' },
  fields: {
    workspaceId: reference('Workspace', 'delete', { doc: 'Home.', immutable: true }),
    teamId: reference('Team', 'clear', { doc: 'Team it is kept to.', nullable: true }),
    name: text({ min: 1, max: 100 }, { doc: 'Shown on tasks.' }),
    // Keeps sync.mutate.color.
    color: text(
      { min: 4, max: 7, pattern: /^#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$/, words: 'must be #rgb or #rrggbb' },
      { doc: 'As #rgb or #rrggbb.', nullable: true },
    ),
  },
});
