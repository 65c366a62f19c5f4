import { Fault, type MoveState } from '@wts/contracts';
import type { MoveFacts, NewMoveState } from '../store/moves.ts';

/** From which states each may follow; null: at rest. */
const FROM: Readonly<Record<MoveState, readonly MoveFacts['state'][]>> = {
  moving: [null],
  moved: ['moving'],
  arriving: [null],
  removed: ['arriving'],
  none: [null, 'moving', 'arriving'],
};

/**
 * The state of a move after a call, which may repeat an earlier one. A workspace leaves by `moving` and `moved`, and enters by `arriving`;
 * `none` ends either before it is done, and opens the workspace.
 */
export function nextState(
  { state, baseUrl }: { readonly state: MoveState; readonly baseUrl: string },
  { state: before, exists, hasSweeps }: MoveFacts,
): NewMoveState {
  const next = {
    state: state === 'none' ? null : state,
    baseUrl: state === 'moved' && baseUrl !== '' ? baseUrl : null,
  };
  if (state === before) return next;
  // The copy of before is deleted first.
  if (state === 'arriving' && (before === 'moved' || before === 'removed')) return { ...next, state: 'removed' };
  // Nothing has arrived, or the copy is deleted already.
  if (state === 'removed' && before === null && !exists) return { ...next, state: null };
  if (state === 'moving' && !exists) throw new Fault('not_found');
  if (!FROM[state].includes(before) || (state === 'arriving' && exists)) throw wrongState(before);
  // What is not deleted or moved yet would be copied, and no sweep of the other cell knows of it.
  if (hasSweeps && (state === 'moving' || state === 'arriving'))
    throw new Fault('unavailable', { message: 'A large deletion in the workspace is not completed yet' });
  return next;
}

function wrongState(before: MoveFacts['state']): Fault {
  return new Fault('conflict', { message: `The workspace is ${before ?? 'at rest'} in this cell` });
}
