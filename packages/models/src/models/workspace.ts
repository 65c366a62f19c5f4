import { workspaceApi } from '@wts/contracts';
import { httpUrl, text } from '../field.ts';
import { model } from '../model.ts';

const { NAME, URL_KEY } = workspaceApi;

export const Workspace = model({
  name: 'Workspace',
  table: 'workspaces',
  doc: 'The space one organization works in. Everything else lives inside one.',
  audience: { kind: 'self' },
  permissions: { insert: 'service', update: 'manage', delete: 'service' },
  unique: [['urlKey']],
  fields: {
    name: text(NAME, { doc: 'Shown everywhere.' }),
    urlKey: text(
      { ...URL_KEY, pattern: new RegExp(URL_KEY.pattern) },
      { doc: 'Its name in addresses; unique.', immutable: true },
    ),
    logoUrl: httpUrl({ doc: 'Picture, absolute URL.', nullable: true }),
  },
});
