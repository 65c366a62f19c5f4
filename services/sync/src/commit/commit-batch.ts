import type { PoolClient } from 'pg';
import { replaysOf, selectReplays, type Replays } from '../store/idempotency-keys.ts';
import { runStatements } from '../store/prepared.ts';
import { BEGIN, waitForLocks } from '../store/transaction.ts';
import type { CommitCache } from './cache.ts';
import { decideBatch, type BatchLimits, type BatchUnits } from './decide-batch.ts';
import { DecisionState } from './decision-state.ts';
import type { CascadeBounds, Lookup } from './lookup.ts';
import { ReadSet } from './read-set.ts';
import type { RefusalCache } from './refusal-cache.ts';
import { lookupStatements, type Callers } from './run-lookups.ts';
import { idempotencyKeyOf, type Unit } from './unit.ts';
import { writeBatch, type BatchResult, type DecidedBatch } from './write.ts';

/*
 * One batch of units in one transaction, of two messages or more:
 *   1. BEGIN, look up idempotency keys, lock and read the rows that the mutations name;
 *   2. write the rows, take the log's lock, append the entries, COMMIT (`write.ts`).
 * Between the two the rules decide in memory. When they query what was not read, one more round reads all that the batch misses
 * under lock, and everything is decided again. The fast path needs no first message (`fast-path.ts`).
 *
 * The idempotency keys of the units are looked up first, or the transaction fails when it writes a key that exists: keeps
 * sync.mutate.idempotent and never.applied-twice.
 */

/**
 * Locks of a later round are taken out of order, so a wait may be a circle. PostgreSQL would detect that after a second; the batch
 * gives up after this time, and its next try takes all locks in order.
 */
const LATER_LOCK_TIMEOUT = '100ms';

export interface BatchOptions {
  /** Read in the first round. The lookups of later rounds are added, for the first round of the next try. */
  readonly lookups: Lookup[];
  /** Null: everything is read, and locked. */
  readonly cache: CommitCache | null;
  readonly limits: BatchLimits;
  /** Of the cascade of one deletion or move. */
  readonly bounds: CascadeBounds | undefined;
  /** How long to wait for rows that other transactions have locked. */
  readonly lockTimeout: string;
  readonly refusalCache: RefusalCache;
  /** Called when the message that writes the batch was sent. */
  readonly onSent: (state: DecisionState) => void;
}

/** Reads under lock, decides, writes. */
export async function commitBatch(client: PoolClient, batch: BatchUnits, options: BatchOptions): Promise<BatchResult> {
  return writeBatch(client, batch.units, await readAndDecide(client, batch, options), options.onSent);
}

async function readAndDecide(client: PoolClient, batch: BatchUnits, options: BatchOptions): Promise<DecidedBatch> {
  const { cache, limits, bounds, lockTimeout, refusalCache } = options;
  const state = new DecisionState(new ReadSet(cache?.numbers), new Date().toISOString(), bounds);
  let replays: Replays = new Map();
  let lookups: readonly Lookup[] = [...options.lookups];
  // Memberships are read without a lock. Where the batch has waited for locks after that, a caller may have become a member
  // meanwhile, so the memberships are read again before a unit is refused.
  const unlocked: Lookup[] = [];
  const counterLock = cache === null ? 'hold' : 'look';
  const callers = callersOf(batch.units);
  const begin = [BEGIN, waitForLocks(lockTimeout), selectReplays(batch.units.map(idempotencyKeyOf))];
  for (let round = 0; ; round += 1) {
    const wanted = lookupStatements(lookups, counterLock, callers);
    const opening = round === 0 ? begin : [waitForLocks(LATER_LOCK_TIMEOUT)];
    const results = await runStatements(client, [...opening, ...wanted.map(({ statement }) => statement)]);
    if (round === 0) replays = replaysOf(results[begin.length - 1]?.rows ?? []);
    for (const [index, lookup] of wanted.entries())
      lookup.store(results[opening.length + index]?.rows ?? [], state.reads);
    const isStale = round > 0 && lookups !== unlocked;
    if (lookups !== unlocked)
      unlocked.push(...lookups.filter((lookup) => lookup.kind === 'related' && lookup.lock === 'look'));
    const isLastRound = round === limits.roundsMax;
    const { decided, missing } = decideBatch(state, { ...batch, replays, limits, isLastRound, refusalCache });
    const isCertain = !isStale || isLastRound || decided.every(({ kind }) => kind !== 'refused');
    if (missing.length === 0 && isCertain) {
      cache?.addRelated(unlocked, state);
      return { state, decided, hasBegun: true };
    }
    lookups = missing.length === 0 ? unlocked : missing;
    options.lookups.push(...missing);
  }
}

function callersOf(units: readonly Unit[]): Callers {
  if (units.some(({ authority }) => authority === 'service')) return 'service';
  return [...new Set(units.map(({ principal }) => principal.userId))];
}
