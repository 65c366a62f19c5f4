import assert from 'node:assert/strict';
import { chooseSuites, findSuites } from '../src/testing/suites.ts';

describe('the suites of a test run', () => {
  const all = findSuites();

  it('are all suites, the end-to-end suite last, unless --only names some', () => {
    assert.equal(chooseSuites(all, undefined).at(-1), 'test-e2e');
    assert.deepEqual(chooseSuites(all, ['services/sync/', 'packages/access']), ['services/sync', 'packages/access']);
    assert.ok(chooseSuites(all, ['packages']).length > 3);
  });

  it('cannot be empty: a name without a suite is an error that lists all suites', () => {
    assert.throws(() => chooseSuites(all, ['services/sync', 'sync']), {
      name: 'UserError',
      message: /^--only sync matches no suite\. Choose from .*services\/sync/,
    });
  });
});
