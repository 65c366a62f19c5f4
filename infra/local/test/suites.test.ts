import assert from 'node:assert/strict';
import { chooseSuites, findSuites } from '../src/testing/suites.ts';

describe('the suites of a test run', () => {
  const all = findSuites();

  it('are all, the end-to-end suite last, unless some are named', () => {
    assert.equal(chooseSuites(all, undefined).at(-1), 'test-e2e');
    assert.deepEqual(chooseSuites(all, ['services/sync/', 'packages/access']), ['services/sync', 'packages/access']);
    assert.ok(chooseSuites(all, ['packages']).length > 3);
  });

  it('are not fewer than were named: a name that names none is refused, with those there are', () => {
    assert.throws(() => chooseSuites(all, ['services/sync', 'sync']), {
      name: 'Refusal',
      message: /^--only sync names no suite\. There are .*services\/sync/,
    });
  });
});
