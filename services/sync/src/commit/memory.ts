import { BoundedMap } from '@wts/access';
import { LIMITS } from '@wts/contracts';
import type { Row } from '../store/rows.ts';
import type { LastNumbers } from './known.ts';
import { relationKey, World, type Need } from './world.ts';

/** After a group was misled the memory is not trusted for so long, and twice as long each next time. */
const DISTRUST_MS = 100;
const DISTRUST_MS_MAX = 10_000;
/** So many groups that were not misled make good for one that was. */
const REDEEMED_BY = 8;

/**
 * What this process remembers of its last groups: who is in which workspaces, and how far tasks are numbered. With it, a
 * group that only makes records is decided without asking PostgreSQL first, and one message is all its commit takes.
 *
 * It may be wrong at any time, since other replicas write too. So nothing rests on it: the transaction that writes insists,
 * under lock, on each thing that was remembered. Memberships are relied on like those that were looked at
 * (`World.rely`), numbers by their counter, that an id or a transaction is new by their unique indexes. A group that was
 * misled is read and decided as if there were no memory. Keeps never.shown-outside and sync.mutate.task-number.
 */
export class Memory {
  readonly #related = new BoundedMap<string, readonly Row[]>(LIMITS.commitMemoryEntriesMax);
  readonly #numbers = new BoundedMap<string, number>(LIMITS.commitMemoryEntriesMax);
  #distrustedUntil = 0;
  #distrustMs = DISTRUST_MS;

  /** False for a while after it was wrong: two replicas that write to one workspace would mislead each other all the time. */
  get isTrusted(): boolean {
    return performance.now() >= this.#distrustedUntil;
  }

  /** A world in which all of this is known; null when something is not remembered, or has to be held. */
  recall(needs: readonly Need[]): World | null {
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

  /** The last number taken in each workspace, also by groups that are still under way. */
  get numbers(): LastNumbers {
    return this.#numbers;
  }

  /** Who is in which workspaces, as a group that looked at it leaves it. */
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

  /** A group that trusted it was not misled. */
  confirm(): void {
    this.#distrustMs = Math.max(this.#distrustMs / 2 ** (1 / REDEEMED_BY), DISTRUST_MS);
  }

  /** What a group was going to make true did not become so. */
  forget(): void {
    this.#related.clear();
    this.#numbers.clear();
  }

  distrust(): void {
    this.#distrustedUntil = performance.now() + this.#distrustMs;
    this.#distrustMs = Math.min(this.#distrustMs * 2, DISTRUST_MS_MAX);
  }
}
