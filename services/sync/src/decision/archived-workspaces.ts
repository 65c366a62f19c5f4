import type { EntryChunk } from '@wts/contracts';
import { Workspace } from '@wts/models';
import type { Pool } from 'pg';
import { readClosedWorkspaces } from '../store/moves.ts';
import { CommitClock } from './commit-clock.ts';
import { MovingWorkspaces } from './moving-workspaces.ts';

/** What the rules of archived records need besides the database. */
export interface Trash {
  readonly workspaces: ArchivedWorkspaces;
  /** Of the installation; 0: tasks stay in the Trash forever. */
  readonly retentionDays: number;
}

/**
 * The workspaces that are deleted and can be restored, as this process knows them: without a read, most changes are decided by it. It may
 * be outdated, so the transaction of each change checks under the log's lock that its workspace is not deleted (`ChangeSet.assumeKept`),
 * and a refusal needs the row of the workspace. Keeps trash.workspace.read-only.
 */
export class ArchivedWorkspaces {
  /** Read with them. */
  readonly clock = new CommitClock();
  /** Those that move to another cell or come from one. */
  readonly moving = new MovingWorkspaces(() => void this.refresh().catch(() => undefined));
  readonly #pool: Pool;
  #ids: ReadonlySet<string> = new Set();
  /** Counts changes by commits of this process: a read that began before one is not taken. */
  #generation = 0;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  has(workspaceId: string): boolean {
    return this.#ids.size > 0 && this.#ids.has(workspaceId);
  }

  async refresh(): Promise<void> {
    const generation = this.#generation;
    const sentMs = performance.now();
    const { archived, moves, nowMs } = await readClosedWorkspaces(this.#pool);
    this.clock.set(nowMs, sentMs);
    this.moving.set(moves);
    if (generation === this.#generation) this.#ids = new Set(archived);
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
