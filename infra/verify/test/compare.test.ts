import type { SyncAction } from '@wts/contracts';
import assert from 'node:assert/strict';
import { applyActions, compareDeliveries, type Replica } from '../src/compare.ts';

const seen = (expected: string[], received: string[]): string[] =>
  compareDeliveries('socket', expected, received).map((finding) => finding.seen);

describe('comparing what came with what should have come', () => {
  it('is content with every id once, ascending', () => {
    assert.deepEqual(seen(['2', '9', '10'], ['2', '9', '10']), []);
  });

  it('finds what is missing', () => {
    assert.deepEqual(seen(['1', '2', '3'], ['1', '3']), ['socket: 2 did not come']);
  });

  it('finds what came twice', () => {
    assert.deepEqual(seen(['1', '2'], ['1', '2', '2']), ['socket: 2 came twice']);
  });

  it('finds what came out of order, by number and not by text', () => {
    assert.deepEqual(seen(['9', '10'], ['10', '9']), ['socket: 9 came after 10']);
  });

  it('finds what was for somebody else', () => {
    assert.deepEqual(seen(['1'], ['1', '7']), ['socket: 7 is not for it']);
  });
});

describe('a copy kept from actions', () => {
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

  it('patches by UPDATE, replaces by INSERT, forgets by DELETE', () => {
    const replica: Replica = new Map();
    applyActions(replica, [action('INSERT', { id: 'a', title: 'x', done: null }), action('UPDATE', { title: 'y' })]);
    assert.deepEqual(replica.get('Task a')?.record, { id: 'a', title: 'y', done: null });
    applyActions(replica, [action('INSERT', { id: 'a', title: 'z' })]);
    assert.deepEqual(replica.get('Task a')?.record, { id: 'a', title: 'z' });
    applyActions(replica, [action('DELETE', {})]);
    assert.equal(replica.size, 0);
  });
});
