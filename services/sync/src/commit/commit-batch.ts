import type { PoolClient } from 'pg';
import { replaysOf, selectReplays, type Replays } from '../store/idempotency-keys.ts';
import { runStatements } from '../store/prepared.ts';
import { BEGIN, waitForLocks } from '../store/transaction.ts';
import { BatchState, type BatchRules } from '../decision/batch-state.ts';
import type { CommitCache } from './cache.ts';
import { decideBatch, type BatchLimits, type BatchUnits } from './decide-batch.ts';
import type { Lookup } from '../decision/lookup.ts';
import { ReadSet } from '../decision/read-set.ts';
import type { RefusalCache } from './refusal-cache.ts';
import { lookupStatements, type Callers } from './run-lookups.ts';
import { idempotencyKeyOf, type Unit } from '../decision/unit.ts';
import { writeBatch, type BatchResult, type DecidedBatch } from './write.ts';

/*
 * One batch of units in one transaction, of two messages or more:
 *   1. BEGIN, look up idempotency keys, lock and read the rows that the mutations name;
 *   2. write the rows, take the log's lock, append the entries, COMMIT (`write.ts`).
 * Between the two the rules decide in memory. When they query something that was not read, one more round reads under lock all that
 * is missing, and the rules decide every unit again. The fast path sends no first message (`fast-path.ts`).
 *
 * The first message looks up the idempotency keys of the units. The fast path relies on their unique index instead: its transaction
 * fails when a key exists. Keeps sync.mutate.idempotent and never.applied-twice.
 */

/**
 * A later round takes its locks out of order, so two batches may wait for each other (a deadlock). PostgreSQL would detect this
 * after a second. The batch gives up after this time instead, and its next try takes all locks in order.
 */
const LATER_LOCK_TIMEOUT = '100ms';

export interface BatchOptions extends BatchRules {
  /** The first round runs these. Later rounds add theirs, so that the first round of the next try runs them too. */
  readonly lookups: Lookup[];
  /** Null: the batch reads and locks every row that it needs. */
  readonly cache: CommitCache | null;
  readonly limits: BatchLimits;
  /** How long to wait for rows that other transactions have locked. */
  readonly lockTimeout: string;
  readonly refusalCache: RefusalCache;
  /** Called when the message that writes the batch was sent. */
  readonly onSent: (state: BatchState) => void;
}

/** Reads under lock, decides, writes. */
export async function commitBatch(client: PoolClient, batch: BatchUnits, options: BatchOptions): Promise<BatchResult> {
  return writeBatch(client, batch.units, await readAndDecide(client, batch, options), options.onSent);
}

async function readAndDecide(client: PoolClient, batch: BatchUnits, options: BatchOptions): Promise<DecidedBatch> {
  const { cache, limits, lockTimeout, refusalCache } = options;
  const state = new BatchState(new ReadSet(cache?.numbers), options);
  let replays: Replays = new Map();
  let lookups: readonly Lookup[] = [...options.lookups];
  // Memberships are read without a lock. While a later round waits for locks, a caller may become a member, so the batch reads
  // the memberships again before it refuses a unit.
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
