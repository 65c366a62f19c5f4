import type { EntryChunk } from '@wts/contracts';
import { Workspace } from '@wts/models';

/** What the rules of archived records need besides the database. */
export interface Trash {
  readonly workspaces: ArchivedWorkspaces;
  /** Of the installation; 0: tasks stay in the Trash forever. */
  readonly retentionDays: number;
}

/** The workspaces that are deleted and can be restored, as this process knows them (`schedule/archived-workspaces.ts`). */
export class ArchivedWorkspaces {
  #ids: ReadonlySet<string> = new Set();
  #generation = 0;

  /** Counts changes by commits of this process: a read that began before one is not taken. */
  get generation(): number {
    return this.#generation;
  }

  has(workspaceId: string): boolean {
    return this.#ids.size > 0 && this.#ids.has(workspaceId);
  }

  replace(ids: Iterable<string>, generation: number): void {
    if (generation === this.#generation) this.#ids = new Set(ids);
  }

  /** Takes what this process has committed. */
  onCommitted({ actions }: EntryChunk): void {
    for (const { modelName, modelId, action } of actions) {
      if (modelName !== Workspace.name || (action !== 'ARCHIVE' && action !== 'UNARCHIVE')) continue;
      const ids = new Set(this.#ids);
      if (action === 'ARCHIVE') ids.add(modelId);
      else ids.delete(modelId);
      this.#ids = ids;
      this.#generation += 1;
    }
  }
}
