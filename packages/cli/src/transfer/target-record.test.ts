import assert from 'node:assert/strict';
import type { ExportRecord } from './model-rules.ts';
import { differencesOf, targetRecord } from './target-record.ts';

const MAPPING = {
  workspaceId: 'target',
  idOf: (id: string) => `new-${id}`,
  personOf: (id: string) => (id === 'gone' ? null : `person-${id}`),
};

const TASK: ExportRecord = {
  __class: 'Task',
  id: 't',
  workspaceId: 'source',
  number: 7,
  title: 'Pay',
  projectId: 'p',
  teamId: null,
  labelIds: ['a', 'b'],
  assigneeId: 'ana',
  creatorId: 'ana',
  repeatRule: 'FREQ=DAILY;COUNT=5',
  repeatFrom: 'date',
  repeatIndex: 3,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  archivedAt: '2026-01-02T00:00:00.000Z',
};

describe('a record of an export, in the target', () => {
  it('refers to the records and people of the target, and leaves out what the server sets', () =>
    assert.deepEqual(targetRecord('Task', TASK, MAPPING), {
      model: 'Task',
      id: 'new-t',
      key: 'Task new-t',
      isArchived: true,
      payload: {
        workspaceId: 'target',
        title: 'Pay',
        projectId: 'new-p',
        teamId: null,
        labelIds: ['new-a', 'new-b'],
        assigneeId: 'person-ana',
        repeatFrom: 'date',
        repeatRule: 'FREQ=DAILY;COUNT=3',
      },
    }));

  it('is a membership by the two that it joins, and none of no person', () => {
    const membership = (userId: string): ExportRecord => ({
      ...TASK,
      __class: 'TeamMember',
      id: 'm',
      teamId: 't',
      userId,
    });
    assert.equal(targetRecord('TeamMember', membership('ana'), MAPPING)?.key, 'TeamMember new-t person-ana');
    assert.equal(targetRecord('TeamMember', membership('gone'), MAPPING), null);
  });

  it('differs from the stored one by names, except in a series that has gone on', () => {
    const expected = targetRecord('Task', TASK, MAPPING);
    assert.ok(expected);
    const stored = { ...TASK, ...expected.payload, archivedAt: 'later', repeatTemplateId: 'series' };
    assert.deepEqual(differencesOf(expected, stored), []);
    assert.deepEqual(differencesOf(expected, { ...stored, repeatRule: null, repeatFrom: 'completion' }), []);
    const never = { ...stored, repeatRule: null, repeatTemplateId: null };
    assert.deepEqual(differencesOf(expected, never), ['repeatRule']);
    const changed = { ...stored, title: 'Paid', labelIds: ['new-b', 'new-a'], archivedAt: null };
    assert.deepEqual(differencesOf(expected, changed), ['title', 'labelIds', 'archivedAt']);
  });
});
