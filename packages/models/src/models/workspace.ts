import { httpUrl, text } from '../field.ts';
import { model } from '../model.ts';

export const Workspace = model({
  name: 'Workspace',
  table: 'workspaces',
  doc: 'The space one organization works in. Everything else lives inside one.',
  audience: { kind: 'self' },
  permissions: { insert: 'service', update: 'manage', delete: 'service' },
  unique: [['urlKey']],
  fields: {
    name: text({ min: 1, max: 100 }, { doc: 'Shown everywhere.' }),
    urlKey: text(
      { min: 3, max: 50, pattern: /^[a-z0-9](?:[a-z0-9]|-(?=[a-z0-9]))*$/ },
      { doc: 'Its name in addresses; unique.', immutable: true },
    ),
    logoUrl: httpUrl({ doc: 'Picture, absolute URL.', nullable: true }),
  },
});
