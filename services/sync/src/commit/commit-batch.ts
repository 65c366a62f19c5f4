import type { PoolClient } from 'pg';
import { questionsOf, type Askers } from './read-needs.ts';
import { together } from '../store/prepared.ts';
import { replaysOf, selectReplays, type Replays } from '../store/replays.ts';
import { BEGIN, waitForLocks } from '../store/transaction.ts';
import type { CommitCache } from './cache.ts';
import { decideBatch, type BatchUnits, type Room } from './decide-batch.ts';
import type { Refused } from './refused.ts';
import { sentAs, type Unit } from './unit.ts';
import type { CascadeBounds } from './need.ts';
import { World, type Need } from './world.ts';
import { writeBatch, type BatchResult, type Ready } from './write.ts';

/*
 * One batch of units in one transaction, of one message or two:
 *   1. BEGIN, look up idempotency keys, lock and read the rows that the mutations name;
 *   2. write the rows, take the log's lock, append the entries, COMMIT (`write.ts`).
 * Between the two the rules decide in memory. When they ask for what was not read, all that the batch misses is read under
 * lock in one more round, and everything is decided again. The fast path needs no first message (`fast-path.ts`).
 *
 * The keys of its units are looked up first, or found to be taken when they are written with it: keeps
 * sync.mutate.idempotent and never.applied-twice.
 */

/**
 * Locks of a later round are taken out of order, so a wait may be a circle. PostgreSQL would find that out after a second;
 * a wait this long is given up, and the next try takes all that was learned in order.
 */
const LATER_LOCK_TIMEOUT = '100ms';

export interface BatchOptions {
  /** To be read first: what was foreseen. What must be read besides is added, for the next try if there is one. */
  readonly needs: Need[];
  /** Null: everything is read, and locked. */
  readonly cache: CommitCache | null;
  readonly room: Room;
  /** What a deletion or a move takes along. */
  readonly bounds: CascadeBounds | undefined;
  /** How long rows are waited for that others hold. */
  readonly lockTimeout: string;
  readonly refused: Refused;
  /** Called when what is to be written is on its way to PostgreSQL. */
  readonly onSent: (world: World) => void;
}

/** Reads under lock, decides, writes. */
export async function commitBatch(client: PoolClient, batch: BatchUnits, options: BatchOptions): Promise<BatchResult> {
  return writeBatch(client, batch.units, await readAndDecide(client, batch, options), options.onSent);
}

async function readAndDecide(client: PoolClient, batch: BatchUnits, options: BatchOptions): Promise<Ready> {
  const { needs: known, cache, room, bounds, lockTimeout, refused } = options;
  const now = new Date().toISOString();
  const world = new World(cache?.numbers, bounds);
  let replays: Replays = new Map();
  let needs: readonly Need[] = [...known];
  // Who may do what is looked at without lock. When it was waited for locks after that, somebody may have been let in
  // meanwhile, so before anything is refused it is looked at again.
  const looks: Need[] = [];
  const counterLock = cache === null ? 'hold' : 'look';
  const askers = askersOf(batch.units);
  const begin = [BEGIN, waitForLocks(lockTimeout), selectReplays(batch.units.map(sentAs))];
  for (let round = 0; ; round += 1) {
    const questions = questionsOf(needs, counterLock, askers);
    const opening = round === 0 ? begin : [waitForLocks(LATER_LOCK_TIMEOUT)];
    const answers = await together(client, [...opening, ...questions.map(({ call }) => call)]);
    if (round === 0) replays = replaysOf(answers[begin.length - 1]?.rows ?? []);
    for (const [index, question] of questions.entries())
      question.take(answers[opening.length + index]?.rows ?? [], world);
    const isStale = round > 0 && needs !== looks;
    looks.push(...(needs === looks ? [] : needs.filter((need) => need.kind === 'related' && need.lock === 'look')));
    const isLastRound = round === room.roundsMax;
    const { decided, missing } = decideBatch(world, { ...batch, replays, now, room, isLastRound, refused });
    const isCertain = !isStale || isLastRound || decided.every(({ kind }) => kind !== 'refused');
    if (missing.length === 0 && isCertain) {
      cache?.keepLooks(looks, world);
      return { world, decided, hasBegun: true, now };
    }
    needs = missing.length === 0 ? looks : missing;
    known.push(...missing);
  }
}

function askersOf(units: readonly Unit[]): Askers {
  if (units.some(({ authority }) => authority === 'service')) return 'service';
  return [...new Set(units.map(({ principal }) => principal.userId))];
}
