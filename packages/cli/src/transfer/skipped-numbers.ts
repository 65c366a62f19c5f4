import { changeOf, type Sent } from './change-of.ts';
import { comparedBy, type TargetRecord } from './target-record.ts';
import { uuidV5 } from './uuid-v5.ts';

/** Each takes two changes: a workspace in which nearly all tasks were deleted is numbered anew from there on. */
const SKIPPED_MAX = 100_000;

/**
 * Gives tasks the numbers that they had, in a workspace that never had a task: the server counts on with each new task, so for every number
 * that no task of the export has, a task is created and deleted.
 */
export class SkippedNumbers {
  readonly #workspaceId: string;
  /** Of the last task. */
  last: number;

  constructor(workspaceId: string, last: number) {
    this.#workspaceId = workspaceId;
    this.last = last;
  }

  /** The changes before a task with this number. */
  before(number: number): readonly Sent[] {
    const missing = Math.min(number - this.last - 1, SKIPPED_MAX);
    const changes = Array.from({ length: Math.max(0, missing) }, (_, index) => this.#skip(this.last + 1 + index));
    this.last = number;
    return changes.flat();
  }

  #skip(number: number): readonly Sent[] {
    const id = uuidV5(this.#workspaceId, `number ${number}`);
    const payload = { workspaceId: this.#workspaceId, title: `Number ${number}` };
    const record: TargetRecord = { model: 'Task', id, payload, isArchived: false, key: comparedBy('Task', { id }) };
    return [changeOf(record, 'INSERT', payload), changeOf(record, 'DELETE')].map((change) => ({
      change,
      record,
      exportId: id,
    }));
  }
}
