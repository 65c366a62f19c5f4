import { Fault } from '@wts/contracts';
import { canGoBack, isGivenUp, isHolding, NEXT_STEP, stepAfterFailure, type MoveStep } from '../domain/move-steps.ts';
import type { MoveStore, StoredMove } from '../store/moves.ts';
import { STEPS, type MoveContext } from './steps.ts';

/** Runs one part of a step and stores how far it is. Rejects when it has to be tried again. */
export async function advance(store: MoveStore, context: MoveContext, move: StoredMove): Promise<void> {
  const { step, isCancelled, heldMs } = move;
  if (isCancelled && canGoBack(step)) return stepTo(store, move, 'thaw', 'Cancelled by the operator.');
  // Why it was given up stays.
  const problemOf = (problem: string | null): string | null => (isGivenUp(step) ? move.problem : problem);
  try {
    const { at, records = 0, isDone } = await STEPS[step](context, move);
    const next = isDone ? NEXT_STEP[step] : step;
    const to = { step: next ?? step, at, records, problem: problemOf(null), isEnded: next === null };
    await store.advance(move, { ...to, holding: holdingOf(step, to.step) });
  } catch (failure) {
    const fault = failure instanceof Fault ? failure : null;
    const next = stepAfterFailure(step, fault?.code ?? null, heldMs);
    const problem = fault === null ? 'internal error' : (fault.publicMessage ?? fault.code);
    if (next !== step) return stepTo(store, move, next, problem);
    await store.advance(move, { step, at: move.at, problem: problemOf(problem) });
    throw failure;
  }
}

/** Where a step goes on matters to `release` alone; all others begin anew. */
async function stepTo(store: MoveStore, move: StoredMove, step: MoveStep, problem: string): Promise<void> {
  await store.advance(move, { step, at: step === 'release' ? move.at : {}, problem });
}

function holdingOf(from: MoveStep, to: MoveStep): 'begins' | 'ends' | null {
  if (!isHolding(from) && isHolding(to)) return 'begins';
  return from === 'release' || from === 'thaw' || to === 'open' ? 'ends' : null;
}
