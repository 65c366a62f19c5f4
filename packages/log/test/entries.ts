import { chunkAfter } from '../src/stream/index.ts';
import type { EntryChunk, StoredEntry } from '@wts/contracts';

/** A log entry like those the commit engine writes. */
export function entry(id: number | bigint, fields: Partial<StoredEntry> = {}): StoredEntry {
  const record = {
    id: '6f0c7a52-1c5e-4d0a-9c55-0d3a4c1d2e01',
    title: `Täsk ${id}`,
    updatedAt: '2026-11-21T10:00:00.000Z',
  };
  return {
    syncId: id.toString(),
    modelName: 'Task',
    modelId: record.id,
    action: 'UPDATE',
    data: { title: record.title, updatedAt: record.updatedAt },
    groupId: '6f0c7a52-1c5e-4d0a-9c55-0d3a4c1d2e02',
    clientTxId: `tx-${id}`,
    clientId: 'device',
    createdAt: '2026-11-21T10:00:00.000Z',
    eventId: `event-${id}`,
    workspaceId: '6f0c7a52-1c5e-4d0a-9c55-0d3a4c1d2e02',
    actorId: '6f0c7a52-1c5e-4d0a-9c55-0d3a4c1d2e03',
    record,
    changed: ['title'],
    completes: false,
    ...fields,
  };
}

/** The chunk (after, upTo] of a dense log. */
export function chunk(after: number, upTo: number, epoch = 'e1'): EntryChunk {
  const [first, ...rest] = Array.from({ length: upTo - after }, (_, index) => entry(after + index + 1));
  return chunkAfter(epoch, String(after), [first!, ...rest]);
}
