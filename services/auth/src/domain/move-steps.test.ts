import assert from 'node:assert/strict';
import {
  canGoBack,
  FORWARD,
  HOLD_MS_MAX,
  isHolding,
  NEXT_STEP,
  stepAfterFailure,
  type MoveStep,
} from './move-steps.ts';

const ALL = Object.keys(NEXT_STEP) as MoveStep[];

/** From a step to the end, without failures. */
function wayFrom(step: MoveStep): MoveStep[] {
  const way: MoveStep[] = [];
  for (let next: MoveStep | null = step; next !== null; next = NEXT_STEP[next]) {
    assert.ok(!way.includes(next), `${step} comes back to ${next}`);
    way.push(next);
  }
  return way;
}

describe('the steps of a move', () => {
  it('lead to one of two ends from each of them: the workspace left, or its copy is deleted', () => {
    assert.deepEqual(wayFrom('arrive'), [...FORWARD]);
    for (const step of ALL) assert.ok(['leave', 'clear'].includes(wayFrom(step).at(-1) ?? ''), step);
  });

  it('can be given up until the directory names the other cell, and not from then on', () => {
    assert.deepEqual(
      FORWARD.filter((step) => !canGoBack(step)),
      ['switch', 'members', 'open', 'leave'],
    );
    for (const code of ['unavailable', 'conflict', 'bootstrap_required', null] as const) {
      for (const step of ALL.filter((one) => !canGoBack(one)))
        assert.equal(stepAfterFailure(step, code, HOLD_MS_MAX + 1), step);
    }
  });

  it('hold changes of the workspace for a bounded time: then people work on', () => {
    for (const step of ALL) {
      const after = stepAfterFailure(step, 'unavailable', HOLD_MS_MAX + 1);
      assert.equal(after, isHolding(step) ? 'release' : step);
      assert.equal(stepAfterFailure(step, 'unavailable', 0), step);
    }
    assert.equal(NEXT_STEP.release, 'follow');
  });

  it('begin anew when the log no longer has what the copy misses', () => {
    assert.equal(stepAfterFailure('follow', 'bootstrap_required', 0), 'restart');
    assert.equal(NEXT_STEP.restart, 'arrive');
  });

  it('end a move that a cell refuses, and people work on', () => {
    for (const code of ['slug_taken', 'not_found', 'conflict', 'validation_failed'] as const) {
      assert.equal(stepAfterFailure('copy', code, 0), 'thaw');
      assert.equal(stepAfterFailure('compare', code, 0), 'thaw');
    }
  });
});
