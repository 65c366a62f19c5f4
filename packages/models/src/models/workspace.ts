import { workspaceApi } from '@wts/contracts';
import { httpUrl, text, timeZone } from '../field.ts';
import { model } from '../model.ts';

const { NAME, URL_KEY } = workspaceApi;

export const Workspace = model({
  name: 'Workspace',
  table: 'workspaces',
  doc: 'The space of one organization. Every other record belongs to one.',
  audience: { kind: 'self' },
  permissions: { insert: 'service', update: 'manage', delete: 'service' },
  scope: 'admin',
  unique: [['urlKey']],
  search: ['name', 'urlKey'],
  fields: {
    name: text(NAME, { doc: 'Display name.' }),
    urlKey: text(
      { ...URL_KEY, pattern: new RegExp(URL_KEY.pattern) },
      { doc: 'Unique short name for URLs.', immutable: true },
    ),
    logoUrl: httpUrl({ doc: 'Absolute URL of a picture.', nullable: true }),
    timeZone: timeZone({ doc: 'The time zone in which its days begin, such as `Europe/Berlin`.', initial: 'UTC' }),
  },
});
