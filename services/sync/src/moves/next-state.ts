import { Fault, type MoveState } from '@wts/contracts';
import type { MoveFacts, NewMoveState } from '../store/moves.ts';

/**
 * The state of a move after a call, which may repeat an earlier one. A workspace leaves by `moving` and `moved`, and enters by `arriving`;
 * `none` ends either before it is done, and opens the workspace.
 */
export function nextState(
  { state, baseUrl }: { readonly state: MoveState; readonly baseUrl: string },
  { state: before, exists, hasSweeps }: MoveFacts,
): NewMoveState {
  const next = { baseUrl: null };
  if (state === before) return { ...next, state, baseUrl: state === 'moved' ? baseUrl : null };
  switch (state) {
    case 'moving':
      if (!exists) throw new Fault('not_found');
      if (before !== null) throw wrongState(before);
      // What is not deleted or moved yet would be copied, and no sweep of the other cell knows of it.
      if (hasSweeps)
        throw new Fault('unavailable', { message: 'A large deletion in the workspace is not completed yet' });
      return { ...next, state };
    case 'moved':
      if (before !== 'moving') throw wrongState(before);
      return { ...next, state, baseUrl };
    case 'arriving':
      if (before === 'moved' || before === 'removed') return { ...next, state: 'removed' };
      if (before !== null || exists) throw wrongState(before);
      if (hasSweeps) throw new Fault('unavailable', { message: 'An earlier copy of the workspace is being deleted' });
      return { ...next, state };
    case 'removed':
      // Nothing has arrived, or the copy is deleted already.
      if (before === null && !exists) return { ...next, state: null };
      if (before !== 'arriving') throw wrongState(before);
      return { ...next, state };
    case 'none':
      if (before === 'moved' || before === 'removed') throw wrongState(before);
      return { ...next, state: null };
  }
}

function wrongState(before: MoveFacts['state']): Fault {
  return new Fault('conflict', { message: `The workspace is ${before ?? 'at rest'} in this cell` });
}
