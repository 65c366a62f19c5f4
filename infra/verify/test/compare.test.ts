import type { SyncAction } from '@wts/contracts';
import assert from 'node:assert/strict';
import { applyActions, compareDeliveries, type ClientRecords } from '../src/compare.ts';

const seen = (expected: string[], received: string[]): string[] =>
  compareDeliveries('socket', expected, received).map((finding) => finding.seen);

describe('compareDeliveries', () => {
  it('finds nothing when every id was received once, ascending', () =>
    assert.deepEqual(seen(['2', '9', '10'], ['2', '9', '10']), []));

  it('finds missing ids', () => assert.deepEqual(seen(['1', '2', '3'], ['1', '3']), ['socket: did not receive 2']));

  it('finds ids that were received twice', () =>
    assert.deepEqual(seen(['1', '2'], ['1', '2', '2']), ['socket: received 2 twice']));

  it('finds ids out of order, compared as numbers and not as text', () =>
    assert.deepEqual(seen(['9', '10'], ['10', '9']), ['socket: received 9 after 10']));

  it('finds ids of other groups', () =>
    assert.deepEqual(seen(['1'], ['1', '7']), ['socket: received 7, which is for others']));
});

describe('applyActions', () => {
  const action = (name: SyncAction['action'], data: object): SyncAction => ({
    syncId: '1',
    modelName: 'Task',
    modelId: 'a',
    action: name,
    data: { ...data },
    groupId: 'g',
    clientId: 'c',
    clientTxId: 't',
    createdAt: '2026-11-21T00:00:00.000Z',
  });

  it('merges fields for UPDATE, replaces the record for INSERT, removes it for DELETE', () => {
    const records: ClientRecords = new Map();
    applyActions(records, [action('INSERT', { id: 'a', title: 'x', done: null }), action('UPDATE', { title: 'y' })]);
    assert.deepEqual(records.get('Task a')?.record, { id: 'a', title: 'y', done: null });
    applyActions(records, [action('INSERT', { id: 'a', title: 'z' })]);
    assert.deepEqual(records.get('Task a')?.record, { id: 'a', title: 'z' });
    applyActions(records, [action('DELETE', {})]);
    assert.equal(records.size, 0);
  });
});
