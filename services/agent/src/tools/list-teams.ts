import { Team } from '@wts/models';
import { viewOf } from '../views/fields.ts';
import { listRecords } from './list-records.ts';

export const listTeams = listRecords(Team, {
  description:
    'Lists the teams of a workspace, or of all workspaces of the person, by name. Other tools take the name, key or id of a team. Example: {"workspace": "acme"}',
  ...viewOf<object>(Team, { hidden: ['createdAt', 'updatedAt', 'archivedAt'] }),
});
