import { Label } from '@wts/models';
import { viewOf } from '../views/fields.ts';
import { listRecords } from './list-records.ts';

export const listLabels = listRecords(Label, {
  description:
    'Lists the labels of a workspace, or of all workspaces of the person, by name. Use it before you put labels on tasks. Example: {"workspace": "acme"}',
  ...viewOf<object>(Label, {
    hidden: ['createdAt', 'updatedAt', 'archivedAt'],
    texts: { team: 'The team whose label it is; null for the whole workspace.' },
  }),
});
