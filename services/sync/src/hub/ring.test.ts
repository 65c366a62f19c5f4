import assert from 'node:assert/strict';
import { chunkAfter } from '@wts/action-stream';
import type { ActionChunk, LogAction } from '@wts/contracts';
import * as fc from 'fast-check';
import { Ring } from './ring.ts';

function action(id: number, groupId = 'group'): LogAction {
  return {
    syncId: String(id),
    modelName: 'Task',
    modelId: 'task',
    action: 'UPDATE',
    data: {},
    groupId,
    clientTxId: '',
    clientId: '',
    createdAt: '2026-11-21T10:00:00.000Z',
    eventId: '',
    workspaceId: null,
    actorId: '',
    record: { id: 'task' },
    changed: [],
  };
}

function chunk(after: number, length: number): ActionChunk {
  const [first, ...rest] = Array.from({ length }, (_, index) => action(after + index + 1));
  return chunkAfter('e', String(after), [first!, ...rest]);
}

function filled(lengths: readonly number[], limits: { bytesMax: number; ageMs: number }): { ring: Ring; end: number } {
  const ring = new Ring(limits);
  let end = 0;
  for (const length of lengths) {
    ring.push(chunk(end, length));
    end += length;
  }
  return { ring, end };
}

describe('the ring', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 40 });

  it('gives all that comes after a cursor, or says that it cannot', () => {
    fc.assert(
      fc.property(lengths, fc.integer({ min: 300, max: 20_000 }), fc.nat(), (list, bytesMax, seed) => {
        const { ring, end } = filled(list, { bytesMax, ageMs: 60_000 });
        const cursor = seed % (end + 1);
        const chunks = ring.since(BigInt(cursor));
        if (chunks === null) return;
        const ids = chunks.flatMap(({ entries }) => entries.map(({ id }) => Number(id))).filter((id) => id > cursor);
        assert.deepEqual(
          ids,
          Array.from({ length: end - cursor }, (_, index) => cursor + index + 1),
        );
      }),
    );
  });

  it('keeps no more bytes than it may, and the newest of them', () => {
    fc.assert(
      fc.property(lengths, fc.integer({ min: 2_500, max: 20_000 }), (list, bytesMax) => {
        const { ring, end } = filled(list, { bytesMax, ageMs: 60_000 });
        assert.ok(ring.bytes <= bytesMax);
        assert.notEqual(ring.since(BigInt(end - 1)), null);
      }),
    );
  });

  it('forgets what is too old, also when nothing new comes', async () => {
    const { ring } = filled([1, 1], { bytesMax: 10_000, ageMs: 0 });
    await new Promise((resolve) => setTimeout(resolve, 2));
    ring.trim();
    assert.equal(ring.bytes, 0);
    assert.equal(ring.since(1n), null);
  });

  it('knows who gained or lost a group, and nobody else', () => {
    const ring = new Ring({ bytesMax: 10_000, ageMs: 60_000 });
    const joins: LogAction = {
      ...action(1, 'person'),
      action: 'INSERT',
      modelName: 'WorkspaceMember',
      record: { id: 'm', workspaceId: 'w' },
    };
    const changes: LogAction = { ...joins, syncId: '2', action: 'UPDATE', groupId: 'other person' };
    const pushed = ring.push(chunkAfter('e', '0', [joins, changes]));
    assert.deepEqual([...pushed.moved], ['person']);
    assert.equal(pushed.entries[0]?.movedGroup, 'w');
  });
});
