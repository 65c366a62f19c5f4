import type { Model } from '@wts/models';
import type { Row } from '../store/rows.ts';
import type { UndoLog } from './undo-log.ts';

/**
 * Rows that decisions depend on and that are not locked. The transaction checks under the log's lock that they have not changed
 * since they were read: a change that depends on a membership gets a position before the end of that membership, or is not
 * committed.
 */
export class Assumptions {
  readonly #rows = new Map<Model, Map<string, Row>>();
  readonly #undoLog: UndoLog;

  constructor(undoLog: UndoLog) {
    this.#undoLog = undoLog;
  }

  /** Undone with its unit: a refused unit may assume rows that it wrote itself, which then do not exist. */
  add(row: Row): void {
    let rows = this.#rows.get(row.model);
    if (!rows) this.#rows.set(row.model, (rows = new Map<string, Row>()));
    if (rows.get(row.id) !== row) this.#undoLog.set(rows, row.id, row);
  }

  clear(): void {
    this.#rows.clear();
  }

  /** By model, without the rows that the batch writes, because those are locked. */
  rows(isWritten: (model: Model, id: string) => boolean): [model: Model, rows: Row[]][] {
    return [...this.#rows].map(([model, rows]) => [
      model,
      [...rows.values()].filter(({ id }) => !isWritten(model, id)),
    ]);
  }
}
