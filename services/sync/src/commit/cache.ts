import { BoundedMap } from '@wts/access';
import { LIMITS } from '@wts/contracts';
import type { Row } from '../store/rows.ts';
import type { LastNumbers } from './known.ts';
import { relationKey, World, type Need } from './world.ts';

/** After a conflict the cache is not used for so long, and twice as long each next time. */
const BACKOFF_MS = 100;
const BACKOFF_MS_MAX = 10_000;
/** The backoff halves after this many batches from the cache without a conflict. */
const BACKOFF_HALVES_AFTER = 8;

/**
 * What this process read and wrote in its last batches: who is in which workspaces, and the last task number of each
 * workspace.
 *
 * An entry may be outdated at any time, because other replicas write too. The transaction that writes therefore checks,
 * under lock, each entry that a decision used: memberships as rows that must be unchanged (`World.rely`), numbers by their
 * counter, that an id or a transaction is new by their unique indexes. A check that fails is a conflict: the batch is read
 * and decided again without the cache. Keeps never.shown-outside and sync.mutate.task-number.
 */
export class CommitCache {
  readonly #related = new BoundedMap<string, readonly Row[]>(LIMITS.commitMemoryEntriesMax);
  readonly #numbers = new BoundedMap<string, number>(LIMITS.commitMemoryEntriesMax);
  #backoffUntil = 0;
  #backoffMs = BACKOFF_MS;

  /** False for a while after a conflict, because two replicas that write to one workspace cause them with every batch. */
  get isUsable(): boolean {
    return performance.now() >= this.#backoffUntil;
  }

  /** A world in which all of this is known; null when a part of it is not cached, or has to be locked. */
  worldOf(needs: readonly Need[]): World | null {
    const world = new World();
    for (const need of needs) {
      if (need.kind === 'taken') world.keepTaken(need.model, need.id, 'nothing');
      else if (need.kind === 'used') world.keepUsed(need.id, false);
      else if (need.kind === 'related' && need.lock === 'look') {
        const rows = this.#related.get(relationKey(need));
        if (!rows) return null;
        world.keepRelated(need, rows, 'look');
      } else if (need.kind === 'counter') {
        const last = this.#numbers.get(need.workspaceId);
        if (last === undefined) return null;
        world.keepCounter(need.workspaceId, last);
      } else return null;
    }
    return world;
  }

  /** The last number taken in each workspace, also by batches that are still under way. */
  get numbers(): LastNumbers {
    return this.#numbers;
  }

  /** Keeps who is in which workspaces, as a batch that looked at it leaves it. */
  keepLooks(needs: readonly Need[], world: World): void {
    for (const need of needs) {
      if (need.kind !== 'related' || need.lock !== 'look' || need.and || world.isExcess(need)) continue;
      const rows = world.relatedBy(need, 'look');
      if (rows.length <= LIMITS.commitMemoryRowsMax) this.#related.set(relationKey(need), rows);
    }
  }

  keepNumbers(numbers: ReadonlyMap<string, number>): void {
    for (const [workspaceId, last] of numbers) this.#numbers.set(workspaceId, last);
  }

  /** A batch that was sent failed: what it was going to change is not true. */
  clear(): void {
    this.#related.clear();
    this.#numbers.clear();
  }

  onSuccess(): void {
    this.#backoffMs = Math.max(this.#backoffMs / 2 ** (1 / BACKOFF_HALVES_AFTER), BACKOFF_MS);
  }

  onConflict(): void {
    this.#backoffUntil = performance.now() + this.#backoffMs;
    this.#backoffMs = Math.min(this.#backoffMs * 2, BACKOFF_MS_MAX);
  }
}
