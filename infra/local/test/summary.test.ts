import assert from 'node:assert/strict';
import { closingLine, countsOf, summaryOf } from '../src/testing/summary.ts';
import type { SuiteResult } from '../src/testing/suites.ts';

const result = (options: { failed?: readonly string[]; skipped?: readonly string[] } = {}): SuiteResult => ({
  folder: 'packages/log',
  passed: 5,
  skipped: options.skipped ?? [],
  failures: (options.failed ?? []).map((title) => ({ title, text: 'why' })),
  seconds: 1,
  processorSeconds: null,
});

describe('the end of a test run', () => {
  it('names each test that failed or was skipped, and counts both in the closing line', () => {
    const runs = [[result({ failed: ['keeps order'] }), result({ skipped: ['in a browser'] })]];
    assert.deepEqual(summaryOf(runs), [
      '\nFailed',
      '  ✗ packages/log: keeps order',
      '\n1 skipped, because this machine lacks what they need',
      '  - packages/log: in a browser',
    ]);
    assert.equal(closingLine(countsOf(runs)), '10 passed, 1 failed, 1 skipped');
    assert.equal(closingLine(countsOf([[result()]])), '5 passed, 0 failed');
  });

  it('says of repeated runs how many were green, and in how many each test failed', () => {
    const runs = [[result()], [result({ failed: ['a', 'b'] })], [result({ failed: ['a'] })]];
    assert.deepEqual(summaryOf(runs), [
      '\nFailed',
      '  ✗ packages/log: a (in 2 of 3 runs)',
      '  ✗ packages/log: b (in 1 of 3 runs)',
      '\n1 of 3 runs were green',
    ]);
    assert.equal(closingLine(countsOf(runs)), '15 passed, 3 failed');
  });
});
