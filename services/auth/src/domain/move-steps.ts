import type { ErrorCode } from '@wts/contracts';

/**
 * The way of a workspace into another cell. Each step may be repeated, so a move goes on after a crash of any service in it.
 *
 * `arrive` to `follow`: people work on, and nothing of the copy can be seen. `stop` to `endpoints`: no change is accepted, for a second as a
 * rule. `switch`: from here on the workspace is in the other cell, and there is no way back. `members`: its people see it there, and not before,
 * because a copy that is left behind must not show them what they are removed from. `open` and `leave`: both cells are told.
 * Keeps cells.move.unseen.
 */
export const FORWARD = [
  'arrive',
  'people',
  'copy',
  'keys',
  'follow',
  'stop',
  'freeze',
  'last',
  'compare',
  'invitations',
  'endpoints',
  'switch',
  'members',
  'open',
  'leave',
] as const;

/**
 * `release`: people may change the workspace again, because the other cell did not answer for too long; then it is followed again.
 * `restart`: the log no longer has what the copy misses. `thaw` and `clear`: the move is given up.
 */
const BACKWARD = ['release', 'restart', 'thaw', 'clear'] as const;

export type MoveStep = (typeof FORWARD)[number] | (typeof BACKWARD)[number];

/** What follows a step that is done; null at the end of the move. */
export const NEXT_STEP: Readonly<Record<MoveStep, MoveStep | null>> = {
  ...(Object.fromEntries(FORWARD.map((step, at) => [step, FORWARD[at + 1] ?? null])) as Record<
    (typeof FORWARD)[number],
    MoveStep | null
  >),
  release: 'follow',
  restart: 'arrive',
  thaw: 'clear',
  clear: null,
};

const orderOf = (step: MoveStep): number => (FORWARD as readonly MoveStep[]).indexOf(step);

/** The steps in which the move can still be given up. */
export const GIVING_UP: readonly MoveStep[] = [...FORWARD.slice(0, orderOf('switch')), 'release', 'restart'];

/** The steps of a move that was given up. */
export const isGivenUp = (step: MoveStep): boolean => step === 'thaw' || step === 'clear';

export const canGoBack = (step: MoveStep): boolean => GIVING_UP.includes(step);

/** Whether changes of the workspace are refused during a step. */
export function isHolding(step: MoveStep): boolean {
  return orderOf(step) >= orderOf('stop') && canGoBack(step);
}

/** A cell that has not answered for so long may be away for hours: people work on meanwhile. */
export const HOLD_MS_MAX = 20_000;

const PASSING: readonly ErrorCode[] = ['unavailable', 'rate_limited', 'internal'];

/** The step after a failure; the same one is tried again. */
export function stepAfterFailure(step: MoveStep, code: ErrorCode | null, heldMs: number): MoveStep {
  if (!canGoBack(step)) return step;
  if (code === 'bootstrap_required') return isHolding(step) ? 'thaw' : 'restart';
  if (code !== null && !PASSING.includes(code)) return 'thaw';
  return isHolding(step) && heldMs > HOLD_MS_MAX ? 'release' : step;
}
