import { ACTIONS } from '../actions.ts';
import { SYNC_ID_PATTERN } from '../ids.ts';

/** Schemas that several sync operations use. */
export const clientText = { type: 'string', minLength: 1, maxLength: 128 } as const;
export const syncIdText = { type: 'string', pattern: SYNC_ID_PATTERN } as const;
const ACTIONS_DESCRIBED =
  '`INSERT` creates a record, `UPDATE` changes fields of it, `DELETE` deletes it and everything in it, `ARCHIVE` archives it (a task: moves it to the Trash; a workspace: deletes it in a week) and `UNARCHIVE` restores it.';
export const action = { type: 'string', enum: ACTIONS, description: ACTIONS_DESCRIBED } as const;
export const modelNameText = { type: 'string', minLength: 1, maxLength: 64, description: 'Such as `Task`.' } as const;
