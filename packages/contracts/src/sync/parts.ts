import { ACTIONS } from '../actions.ts';
import { EXAMPLE_IDS } from '../example-ids.ts';
import { SYNC_ID_PATTERN } from '../ids.ts';

/** What the operations of the sync routes have in common. */
export const clientText = { type: 'string', minLength: 1, maxLength: 128 } as const;
export const syncIdText = { type: 'string', pattern: SYNC_ID_PATTERN } as const;
const ACTIONS_DESCRIBED =
  '`INSERT` makes a record, `UPDATE` changes fields of it, `DELETE` ends it with everything in it; `ARCHIVE` puts it away (a task: into the trash) and `UNARCHIVE` takes it back.';
export const action = { type: 'string', enum: ACTIONS, description: ACTIONS_DESCRIBED } as const;
export const modelNameText = { type: 'string', minLength: 1, maxLength: 64, description: 'Such as `Task`.' } as const;

export const labelExample = {
  id: EXAMPLE_IDS.label,
  workspaceId: EXAMPLE_IDS.workspace,
  teamId: null,
  name: 'urgent',
  color: '#d33a2c',
  createdAt: '2026-11-21T09:00:00.000Z',
  updatedAt: '2026-11-21T09:00:00.000Z',
  archivedAt: null,
} as const;
