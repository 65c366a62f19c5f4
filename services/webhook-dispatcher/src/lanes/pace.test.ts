import assert from 'node:assert/strict';
import { DISPATCH } from '../limits.ts';
import { PaceMeter } from './pace.ts';

describe('the pace of an endpoint', () => {
  const HEALTHY = { origin: 'https://one.example', hasSucceeded: true, consecutiveFailures: 0 };
  const { slowMs, hangingMs, hangingSlowMs, durationsKept } = DISPATCH;
  let nowMs = 0;
  let meter: PaceMeter;
  const note = (durationMs: number, times: number): void => {
    for (let at = 0; at < times; at += 1) meter.note(durationMs, HEALTHY.origin);
  };
  beforeEach(() => (meter = new PaceMeter(DISPATCH, () => nowMs)));

  it('is that of nine of ten of its last attempts, or else what is recorded', () => {
    assert.equal(meter.pace(HEALTHY), 'quick');
    assert.equal(meter.pace({ ...HEALTHY, hasSucceeded: false }), 'unknown');
    note(1, 9);
    note(slowMs + 1, 1);
    assert.equal(meter.pace(HEALTHY), 'quick');
    note(slowMs + 1, 1);
    assert.equal(meter.pace(HEALTHY), 'slow');
  });

  it('is slow for a minute after one attempt that hangs', () => {
    note(1, durationsKept);
    note(hangingMs + 1, 1);
    nowMs += hangingSlowMs - 1;
    assert.equal(meter.pace(HEALTHY), 'slow');
    nowMs += 1;
    assert.equal(meter.pace(HEALTHY), 'quick');
  });

  it('is quick before that when ten attempts in a row end in time', () => {
    note(1, durationsKept);
    note(hangingMs + 1, 1);
    note(1, durationsKept - 1);
    assert.equal(meter.pace(HEALTHY), 'slow');
    note(slowMs + 1, 1);
    note(1, durationsKept - 1);
    assert.equal(meter.pace(HEALTHY), 'slow');
    note(1, 1);
    assert.equal(meter.pace(HEALTHY), 'quick');
  });

  it('is what is recorded again when the endpoint has another origin', () => {
    note(hangingMs + 1, durationsKept);
    assert.equal(meter.pace(HEALTHY), 'slow');
    const moved = { ...HEALTHY, origin: 'https://two.example' };
    assert.equal(meter.pace(moved), 'quick');
    note(hangingMs + 1, 1);
    assert.equal(meter.pace(moved), 'quick', 'an attempt at the origin before ends late');
    assert.equal(meter.pace({ ...moved, hasSucceeded: false }), 'unknown');
  });
});
