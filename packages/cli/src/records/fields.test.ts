import { MODELS } from '@wts/models';
import assert from 'node:assert/strict';
import {
  CHECKLIST_FIELDS,
  COMMENT_FIELDS,
  LABEL_FIELDS,
  PROJECT_FIELDS,
  TASK_FIELD_NAMES,
  TEAM_FIELDS,
} from './fields.ts';

const SHOWN: Readonly<Record<string, readonly string[]>> = {
  Task: TASK_FIELD_NAMES,
  Project: Object.keys(PROJECT_FIELDS),
  Label: Object.keys(LABEL_FIELDS),
  Team: Object.keys(TEAM_FIELDS),
  Comment: Object.keys(COMMENT_FIELDS),
  TaskChecklistItem: Object.keys(CHECKLIST_FIELDS),
};

describe('the JSON of records', () => {
  for (const [name, fields] of Object.entries(SHOWN))
    it(`has every field of a ${name}`, () => {
      const model = MODELS.find((one) => one.name === name) ?? assert.fail(name);
      const declared = [
        'id',
        ...Object.keys(model.fields),
        'createdAt',
        'updatedAt',
        ...(model.archivable ? ['archivedAt'] : []),
      ];
      assert.deepEqual(
        declared.filter((field) => !fields.includes(field)),
        [],
      );
    });
});
