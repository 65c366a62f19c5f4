import { Fault } from '@wts/contracts';
import { canGoBack, isHolding, NEXT_STEP, stepAfterFailure, type MoveStep } from '../domain/move-steps.ts';
import type { MoveStore, StoredMove } from '../store/moves.ts';
import { STEPS, type MoveContext } from './steps.ts';

/** Runs one part of a step and stores how far it is. Rejects when it has to be tried again. */
export async function advance(store: MoveStore, context: MoveContext, move: StoredMove): Promise<void> {
  const { step, isCancelled, heldMs } = move;
  if (isCancelled && canGoBack(step)) return stepTo(store, move, 'thaw', 'Cancelled by the operator.');
  try {
    const { at, records = 0, isDone } = await STEPS[step](context, move);
    const next = isDone ? NEXT_STEP[step] : step;
    // Why it was given up stays.
    const problem = step === 'thaw' || step === 'clear' ? move.problem : null;
    const to = { step: next ?? step, at, records, problem, isEnded: next === null };
    await store.advance(move, { ...to, holding: holdingOf(step, to.step) });
  } catch (failure) {
    const code = failure instanceof Fault ? failure.code : null;
    const next = stepAfterFailure(step, code, heldMs);
    const problem = failure instanceof Fault ? (failure.publicMessage ?? failure.code) : 'internal error';
    if (next !== step) return stepTo(store, move, next, problem);
    const isGivenUp = step === 'thaw' || step === 'clear';
    await store.advance(move, {
      step,
      at: move.at,
      records: 0,
      problem: isGivenUp ? move.problem : problem,
      isEnded: false,
      holding: null,
    });
    throw failure;
  }
}

/** Where a step goes on matters to `release` alone; all others begin anew. */
async function stepTo(store: MoveStore, move: StoredMove, step: MoveStep, problem: string): Promise<void> {
  const at = step === 'release' ? move.at : {};
  await store.advance(move, { step, at, records: 0, problem, isEnded: false, holding: null });
}

function holdingOf(from: MoveStep, to: MoveStep): 'begins' | 'ends' | null {
  if (!isHolding(from) && isHolding(to)) return 'begins';
  return from === 'release' || from === 'thaw' || to === 'open' ? 'ends' : null;
}
