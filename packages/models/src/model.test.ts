import assert from 'node:assert/strict';
import { isOf, type Model, type RecordOf } from './model.ts';
import { Comment } from './models/comment.ts';
import { Task } from './models/task.ts';
import { WorkspaceMember } from './models/workspace-member.ts';
import { buildRecord, idIn, idsIn } from './record.ts';

const now = '2026-11-21T09:00:00.000Z';
const record = buildRecord(Task, 'id', { title: 'T', labelIds: ['a', 'b'] }, { createdAt: now, updatedAt: now });

/** True only where both types are the same. */
type Same<A, B> = [A, B] extends [B, A] ? true : false;

describe('the type of a record', () => {
  it('is derived from the declared fields', () => {
    type TaskRecord = RecordOf<typeof Task>;
    const isExact: [
      Same<TaskRecord['title'], string>,
      Same<TaskRecord['description'], string | null>,
      Same<TaskRecord['start'], 'not_started' | 'started' | 'someday'>,
      Same<TaskRecord['priority'], number>,
      Same<TaskRecord['labelIds'], readonly string[]>,
      Same<TaskRecord['archivedAt'], string | null>,
      Same<RecordOf<typeof WorkspaceMember>['role'], 'owner' | 'admin' | 'member' | 'guest'>,
      Same<RecordOf<Model>['createdAt'], string>,
      Same<RecordOf<Model>['title'], unknown>,
    ] = [true, true, true, true, true, true, true, true, true];
    assert.ok(isExact);
    // @ts-expect-error: comments cannot be archived
    assert.equal(buildRecord(Comment, 'id', {}, { createdAt: now, updatedAt: now }).archivedAt, undefined);
    // @ts-expect-error: a task has no such field
    assert.equal(record.size, undefined);
  });

  it('is narrowed by `isOf`', () => {
    const row: { model: Model; record: RecordOf<Model> } = { model: Task, record };
    assert.ok(!isOf(row, WorkspaceMember));
    assert.ok(isOf(row, Task));
    const title: string = row.record.title;
    assert.equal(title, 'T');
  });
});

describe('the ids in a record', () => {
  it('are a list for references with none, one or several', () => {
    assert.deepEqual(idsIn({ ...record, projectId: 'p' }, 'projectId'), ['p']);
    assert.deepEqual(idsIn(record, 'labelIds'), ['a', 'b']);
    assert.deepEqual([idsIn(record, 'projectId'), idsIn(record, 'nothing')], [[], []]);
  });

  it('are asserted where a field must have one', () => {
    assert.equal(idIn({ projectId: 'p' }, 'projectId'), 'p');
    assert.throws(() => idIn(record, 'projectId'), /projectId holds no id/);
  });
});
