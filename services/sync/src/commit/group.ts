import { LIMITS } from '@wts/contracts';
import type { PoolClient } from 'pg';
import { questionsOf, type Askers } from '../store/needs.ts';
import { together, type Call } from '../store/prepared.ts';
import { nameOf, replaysOf, selectReplays, type Replays } from '../store/replays.ts';
import { decide } from './decide.ts';
import type { Memory } from './memory.ts';
import { takeStep } from './sweep.ts';
import { sentAs, type Effect, type Unit } from './unit.ts';
import { TOO_LARGE, TooMuch, Unread, World, type CascadeBounds, type Need } from './world.ts';
import { BEGIN, writeGroup, type Decided, type GroupResult, type Ready } from './write.ts';

/*
 * One group of units in one transaction, of one message or two:
 *   1. BEGIN, look up idempotency keys, lock and read the rows that the mutations name;
 *   2. write the rows, take the log's lock, append the entries, COMMIT (`write.ts`).
 * Between the two the rules decide in memory. When they ask for what was not read, all that the group misses is read under
 * lock in one more round, and everything is decided again. A group that only makes records often needs no first message,
 * because what it would read is remembered (`memory.ts`).
 *
 * The keys of its units are looked up first, or found to be taken when they are written with it: keeps
 * sync.mutate.idempotent and never.applied-twice.
 */

/** Rounds of reading before the group gives up: a cascade needs one for each level. */
const READ_ROUNDS_MAX = 24;

/**
 * Locks of a later round are taken out of order, so a wait may be a circle. PostgreSQL would find that out after a second;
 * a wait this long is given up, and the next try takes all that was learned in order.
 */
const LATER_LOCK_TIMEOUT_MS = 100;

export interface GroupOptions {
  /** To be read first: what was foreseen. What must be read besides is added, for the next try if there is one. */
  readonly needs: Need[];
  /** Null: everything is read, and held. */
  readonly memory: Memory | null;
  /** What a deletion or a move takes along. */
  readonly bounds?: CascadeBounds | undefined;
  /** Called when what is to be written is on its way to PostgreSQL. */
  readonly onSent: (world: World) => void;
}

/** Reads under lock, decides, writes. */
export async function commitGroup(
  client: PoolClient,
  units: readonly Unit[],
  options: GroupOptions,
): Promise<GroupResult> {
  return writeGroup(client, units, await readAndDecide(client, units, options), options.onSent);
}

const NO_REPLAYS: Replays = new Map();

/**
 * Without reading anything; null when that is not possible. Only records that are made, since what is changed or goes has to
 * be held; and nothing is refused by heart.
 */
export function decideByHeart(units: readonly Unit[], needs: readonly Need[], memory: Memory): Ready | null {
  if (!units.every(({ mutations }) => mutations.every(({ action }) => action === 'INSERT'))) return null;
  const world = memory.recall(needs);
  if (!world) return null;
  const now = new Date().toISOString();
  const { decided, missing } = decideAll(world, units, NO_REPLAYS, now);
  if (missing.length > 0 || decided.some(({ kind }) => kind === 'refused')) return null;
  // That an id is free is insisted on by the indexes that take it with the record, and by nothing else.
  const mayBeTaken = (need: Need): boolean =>
    (need.kind === 'taken' || need.kind === 'used') && !world.makes(need.model, need.id);
  if (needs.some(mayBeTaken)) return null;
  return { world, decided, hasBegun: false, isLater: false, now };
}

async function readAndDecide(
  client: PoolClient,
  units: readonly Unit[],
  { needs: known, memory, bounds }: GroupOptions,
): Promise<Ready> {
  const now = new Date().toISOString();
  const world = new World(memory?.numbers, bounds);
  let replays: Replays = NO_REPLAYS;
  let needs: readonly Need[] = [...known];
  // Who may do what is looked at without lock. When it was waited for locks after that, somebody may have been let in
  // meanwhile, so before anything is refused it is looked at again.
  const looks: Need[] = [];
  const askers = askersOf(units);
  let opening: Call[] = [BEGIN, selectReplays(units.map(sentAs))];
  for (let round = 0; ; round += 1) {
    const questions = questionsOf(needs, memory === null ? 'hold' : 'look', askers);
    const answers = await together(client, [...opening, ...questions.map(({ call }) => call)]);
    if (round === 0) replays = replaysOf(answers[1]?.rows ?? []);
    const offset = answers.length - questions.length;
    for (const [index, question] of questions.entries()) question.take(answers[offset + index]?.rows ?? [], world);
    opening = [`set local lock_timeout = ${LATER_LOCK_TIMEOUT_MS}`];
    const isStale = round > 0 && needs !== looks;
    looks.push(...(needs === looks ? [] : needs.filter((need) => need.kind === 'related' && need.lock === 'look')));
    const { decided, missing } = decideAll(world, units, replays, now);
    const isCertain = !isStale || decided.every(({ kind }) => kind !== 'refused');
    if (missing.length === 0 && isCertain) {
      memory?.keepLooks(looks, world);
      return { world, decided, hasBegun: true, isLater: round > 0, now };
    }
    if (round === READ_ROUNDS_MAX) throw new TooMuch('This reaches through too many levels of records');
    needs = missing.length === 0 ? looks : missing;
    known.push(...missing);
  }
}

/**
 * Decides every unit in order. What a unit needs and nobody has read yet is noted, and the others are decided all the
 * same, to learn what they need; only without anything missing do the decisions count.
 */
function decideAll(
  world: World,
  units: readonly Unit[],
  replays: Replays,
  now: string,
): { decided: Decided[]; missing: Need[] } {
  world.startAgain();
  const missing: Need[] = [];
  const seen = new Map<string, number>();
  const decided: Decided[] = [];
  for (const [index, unit] of units.entries()) {
    const name = nameOf(sentAs(unit));
    const replay = replays.get(name);
    const twin = seen.get(name);
    if (replay) decided.push({ kind: 'replayed', replay });
    else if (twin === undefined) decided.push(decideUnit(world, unit, now, missing));
    else decided.push({ kind: 'same', as: twin });
    // A refused first try is no result to repeat: the twin gets its own.
    if (twin === undefined && decided[index]?.kind !== 'refused') seen.set(name, index);
  }
  let [count, length] = [0, 0];
  for (const one of decided) {
    if (one.kind !== 'applied') continue;
    count += one.effects.length;
    for (const { text } of one.effects) length += text.length;
  }
  if (count > LIMITS.cascadeActionsMax) {
    throw new TooMuch(`This changes more than ${LIMITS.cascadeActionsMax} records; do it in smaller steps`);
  }
  if (length > LIMITS.cascadeBytesMax) throw new TooMuch(TOO_LARGE);
  return { decided, missing };
}

function decideUnit(world: World, unit: Unit, now: string, missing: Need[]): Decided {
  const effects: Effect[] = [];
  const mains: { effect: Effect | null; replayOf: bigint | undefined }[] = [];
  const outcome = world.attempt(() => {
    const { step } = unit;
    if (step) effects.push(...(orMissing(missing, () => takeStep(world, unit, step, now)) ?? []));
    world.keepEntries(effects);
    for (const mutation of unit.mutations) {
      const decision = orMissing(missing, () => decide(world, unit, mutation, now));
      if (decision === null) continue;
      if (!decision.ok) return decision;
      world.keepEntries(decision.effects);
      for (const effect of decision.effects) effects.push(effect);
      mains.push({ effect: decision.main, replayOf: decision.replayOf });
    }
    return { ok: true as const };
  });
  return outcome.ok ? { kind: 'applied', effects, mains } : { kind: 'refused', refusal: outcome };
}

/** The decision, or null when something must be read for it. */
function orMissing<T>(missing: Need[], decision: () => T): T | null {
  try {
    return decision();
  } catch (error) {
    if (!(error instanceof Unread)) throw error;
    missing.push(...error.needs);
    return null;
  }
}

function askersOf(units: readonly Unit[]): Askers {
  if (units.some(({ authority }) => authority === 'service')) return 'service';
  return [...new Set(units.map(({ principal }) => principal.userId))];
}
