import { LIMITS, workspaceApi } from '@wts/contracts';
import { httpUrl, integer, text, timeZone } from '../field.ts';
import { model } from '../model.ts';

const { NAME, URL_KEY } = workspaceApi;

export const Workspace = model({
  name: 'Workspace',
  table: 'workspaces',
  doc: 'The space of one organization. Every other record belongs to one.',
  audience: { kind: 'self' },
  archivable: true,
  permissions: { insert: 'service', update: 'manage', archive: 'owner', delete: 'service' },
  instead: {
    insert: 'A Workspace is created with POST /api/workspaces, not by INSERT',
    delete: 'A Workspace is deleted by ARCHIVE, a week later for good, not by DELETE',
  },
  confirmedBy: 'urlKey',
  scope: 'admin',
  unique: [['urlKey']],
  search: ['name', 'urlKey'],
  indexes: { workspaces_archived_idx: '(archived_at) where archived_at is not null' },
  fields: {
    name: text(NAME, { doc: 'Display name.' }),
    urlKey: text(
      {
        ...URL_KEY,
        pattern: new RegExp(URL_KEY.pattern),
        words: `must be ${URL_KEY.min} to ${URL_KEY.max} lowercase letters, digits and hyphens`,
      },
      { doc: 'Unique short name for URLs.', immutable: true },
    ),
    logoUrl: httpUrl({ doc: 'Absolute URL of a picture.', nullable: true }),
    timeZone: timeZone({ doc: 'The time zone in which its days begin, such as `Europe/Berlin`.', initial: 'UTC' }),
    trashRetentionDays: integer(
      { min: 1, max: LIMITS.trashRetentionDaysMax },
      {
        doc: 'Days that tasks stay in the Trash before they are deleted for good; null for those of the installation. Owners can change this, and only to keep tasks longer.',
        nullable: true,
        changedBy: 'owner',
      },
    ),
  },
});
