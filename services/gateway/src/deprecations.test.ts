import assert from 'node:assert/strict';
import { DEPRECATIONS, deprecationHeaders } from './deprecations.ts';
import { API_ROUTES } from './routes.ts';

const operations = new Set(['listWorkspaces', 'syncDeltas']);
const row = {
  operation: 'listWorkspaces',
  deprecatedOn: '2026-11-01',
  sunsetOn: '2027-01-30',
  link: 'https://docs.example.com/deprecations/list-workspaces',
};

describe('the deprecation table', () => {
  it('has no mistake', () => deprecationHeaders(DEPRECATIONS, new Set(API_ROUTES.map((route) => route.contract.id))));

  it('accepts a notice of exactly 90 days and refuses one of 89 [versioning.retiring.notice]', () => {
    assert.ok(deprecationHeaders([row], operations));
    assert.throws(() => deprecationHeaders([{ ...row, sunsetOn: '2027-01-29' }], operations), /less than 90 days/);
  });

  it('is refused with one error that names every mistake', () => {
    const wrong = [
      { ...row, operation: 'unknown' },
      { ...row, deprecatedOn: '2026-02-30' },
      { ...row, link: 'deprecations.html' },
      row,
      row,
    ];
    assert.throws(
      () => deprecationHeaders(wrong, operations),
      (error: Error) =>
        [/unknown is no public/, /real days/, /no absolute URL/, /twice/].every((part) => part.test(error.message)),
    );
  });
});
