import { MODELS, type Model } from '@wts/models';
import type { Row } from '../store/rows.ts';
import type { Trash } from './archived-workspaces.ts';
import { ChangeSet } from './change-set.ts';
import { CASCADE_BOUNDS, type CascadeBounds } from './lookup.ts';
import type { ReadSet } from './read-set.ts';

/** What the rules know besides the database. */
export interface BatchRules {
  /** Of the cascade of one deletion or move; a larger one is left to a sweep. */
  readonly bounds: CascadeBounds | undefined;
  readonly trash: Trash;
}

/**
 * A batch while it is decided: what was read of the database (`ReadSet`), and the changes of the units decided so far (`ChangeSet`). Each
 * unit is a `Decision` over it.
 */
export class BatchState {
  readonly reads: ReadSet;
  #changes = new ChangeSet();
  /** When the batch is decided. */
  readonly now: string;
  readonly bounds: CascadeBounds;
  readonly trash: Trash;

  constructor(reads: ReadSet, { bounds = CASCADE_BOUNDS, trash }: BatchRules) {
    this.reads = reads;
    this.now = trash.workspaces.clock.now();
    this.bounds = bounds;
    this.trash = trash;
  }

  get changes(): ChangeSet {
    return this.#changes;
  }

  /** Discards what was changed and keeps what was read, to decide all units again. */
  discardChanges(): void {
    this.#changes = new ChangeSet();
    this.reads.restartTextCount();
  }

  writes(): { inserts: Map<Model, Row[]>; updates: Map<Model, Row[]>; deletes: Map<Model, string[]> } {
    const inserts = new Map<Model, Row[]>();
    const updates = new Map<Model, Row[]>();
    const deletes = new Map<Model, string[]>();
    for (const model of MODELS) {
      for (const [id, row] of this.changes.rowsOf(model) ?? []) {
        const before = this.reads.rowBefore(model, id);
        if (row && before) updates.getOrInsertComputed(model, () => []).push(row);
        else if (row) inserts.getOrInsertComputed(model, () => []).push(row);
        else if (before) deletes.getOrInsertComputed(model, () => []).push(id);
      }
    }
    return { inserts, updates, deletes };
  }
}
