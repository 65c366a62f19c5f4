import assert from 'node:assert/strict';
import { ACTIONS, webhookApi } from '@wts/contracts';
import { MODELS } from '@wts/models';
import { eventOf, storedEvent, testEvent, type EventSource } from './event.ts';

const WORKSPACE = '6f0c7a52-1c5e-4d0a-9c55-0d3a4c1d2e02';

const entry = (fields: Partial<EventSource> = {}): EventSource => ({
  syncId: '9007199254740993',
  eventId: '6f0c7a52-1c5e-4d0a-9c55-0d3a4c1d2e03',
  workspaceId: WORKSPACE,
  groupId: WORKSPACE,
  modelName: 'Task',
  action: 'UPDATE',
  record: { id: '6f0c7a52-1c5e-4d0a-9c55-0d3a4c1d2e01', title: 'Täsk', startDate: '2026-12-01' },
  changed: ['title', 'updatedAt'],
  completes: false,
  createdAt: '2026-11-21T10:00:00.000Z',
  ...fields,
});

describe('the event of an entry', () => {
  it('has each type that can be subscribed to, and no other', () => {
    const types = new Set<string>();
    for (const { name, event } of MODELS) {
      for (const action of ACTIONS) {
        for (const completes of [false, true]) {
          const isPossible = event !== 'comment' || !(action.endsWith('ARCHIVE') || completes);
          if (!isPossible) continue;
          const found = eventOf(entry({ modelName: name, action, completes: completes && action === 'UPDATE' }));
          if (found !== null) types.add(found.type);
          assert.equal(found === null, event === undefined, name);
        }
      }
    }
    assert.deepEqual([...types].toSorted(), [...webhookApi.EVENT_TYPES].toSorted());
  });

  it('is written once, byte by byte [events.body.fields, events.body.sync-action-id]', () => {
    const event = eventOf(entry({ completes: true, changed: ['completedAt', 'updatedAt'] }));
    assert.ok(event !== null);
    assert.equal(
      storedEvent(event).body,
      `{"id":"6f0c7a52-1c5e-4d0a-9c55-0d3a4c1d2e03","type":"task.completed","createdAt":"2026-11-21T10:00:00.000Z","apiVersion":"1","workspaceId":"${WORKSPACE}","syncActionId":"9007199254740993","data":{"object":{"id":"6f0c7a52-1c5e-4d0a-9c55-0d3a4c1d2e01","title":"Täsk","startDate":"2026-12-01"},"changes":["completedAt"]}}`,
    );
    const test = testEvent('1', WORKSPACE, '2026-11-21T10:00:00.000Z', { id: '2' });
    assert.equal(
      test.body,
      `{"id":"1","type":"endpoint.test","createdAt":"2026-11-21T10:00:00.000Z","apiVersion":"1","workspaceId":"${WORKSPACE}","syncActionId":null,"data":{"object":{"id":"2"},"changes":[]}}`,
    );
  });

  it('names no field of a record that came or went, also when it moved with a change [events.body.changes]', () => {
    for (const action of ['INSERT', 'DELETE'] as const) assert.deepEqual(eventOf(entry({ action }))?.changes, []);
  });

  it('does not exist in the group of a private project or of a person [events.filter.private-projects]', () => {
    for (const modelName of ['Task', 'Project', 'Comment', 'Nonsense'])
      for (const action of ACTIONS)
        assert.equal(eventOf(entry({ modelName, action, groupId: '6f0c7a52-1c5e-4d0a-9c55-0d3a4c1d2e09' })), null);
    assert.equal(eventOf(entry({ modelName: 'User', workspaceId: null })), null);
  });

  it('cannot be made of an entry with missing fields or unknown names', () => {
    const broken: [Partial<EventSource>, RegExp][] = [
      [{ modelName: 'Starship' }, /no model has this name/],
      [{ workspaceId: null }, /no workspace/],
      [{ record: null as never }, /no record/],
      [{ action: 'EXPLODE' as never }, /no action has this name/],
      [{ modelName: 'Comment', action: 'ARCHIVE' }, /comment\.archived is no type/],
    ];
    for (const [fields, reason] of broken) assert.throws(() => eventOf(entry(fields)), reason);
  });
});
