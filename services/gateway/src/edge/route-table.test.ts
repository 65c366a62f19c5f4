import { ANY_CHARACTER } from '@wts/contracts/any-character';
import assert from 'node:assert/strict';
import { contract, workspaceApi, type InternalUse } from '@wts/contracts';
import fc from 'fast-check';
import { API_ROUTES, AUTH_ROUTES, type Route } from '../routes.ts';
import { compileRoutes } from './route-table.ts';

const operation = (id: string, path: string, method: 'GET' | 'POST' = 'GET', internal?: InternalUse) =>
  contract({
    id,
    method,
    path,
    summary: '',
    tag: 'Meta',
    scope: 'read',
    reply: { status: 200, schema: {} },
    errors: [],
    ...(internal ? { internal } : {}),
  });

describe('the route table', () => {
  it('compiles for both origins and has the methods of a path', () => {
    compileRoutes(AUTH_ROUTES);
    const entry = compileRoutes(API_ROUTES)('/api/workspaces');
    assert.equal(entry?.allow, 'GET, HEAD, POST, OPTIONS');
    assert.equal(entry?.methods.get('POST')?.contract, workspaceApi.createWorkspace);
  });

  it('matches case, slashes and segments strictly [errors.404.unknown-route]', () => {
    const table = compileRoutes(API_ROUTES);
    for (const path of [
      '/API/workspaces',
      '/api/workspaces/',
      '//api/workspaces',
      '/api//workspaces',
      'api/workspaces',
      '',
      '/api/workspaces/by-slug',
      '/api/workspaces/by-slug/',
      '/api/workspaces/by-slug/a/',
      '/health/../ready',
      '/api/workspaces/by-slug/.',
      '/api/workspaces/by-slug/..',
      '/api/workspaces/by-slug/a/b',
      '/__proto__',
    ]) {
      assert.equal(table(path), null, path);
    }
    assert.notEqual(table('/api/workspaces/by-slug/a.b'), null);
    assert.notEqual(table('/api/workspaces/by-slug/constructor'), null);
  });

  it('prefers a literal segment to a parameter, and a parameter to a dead end behind a literal', () => {
    const table = compileRoutes([
      { contract: operation('one', '/w/{id}'), to: 'workspace' },
      { contract: operation('fixed', '/w/fixed'), to: 'workspace' },
      { contract: operation('deep', '/w/fixed/{id}/x'), to: 'workspace' },
      { contract: operation('other', '/w/{id}/{to}/y'), to: 'workspace' },
    ]);
    const found = (path: string): string | undefined => table(path)?.methods.get('GET')?.contract.id;
    assert.equal(found('/w/fixed'), 'fixed');
    assert.equal(found('/w/other'), 'one');
    assert.equal(found('/w/fixed/1/x'), 'deep');
    assert.equal(found('/w/fixed/1/y'), 'other');
  });

  it('has pages of services, which use cookies, at the authorization origin only', () => {
    const routes: readonly Route[] = API_ROUTES;
    assert.deepEqual(
      routes.filter(({ contract, to }) => contract.page && to !== 'gateway'),
      [],
    );
  });

  it('refuses an internal operation and an operation routed twice', () => {
    assert.throws(
      () =>
        compileRoutes([{ contract: operation('in', '/internal/x', 'GET', { callers: ['workspace'] }), to: 'sync' }]),
      /internal/,
    );
    const twice = { contract: operation('a', '/a'), to: 'sync' } as const;
    assert.throws(() => compileRoutes([twice, { ...twice }]), /twice/);
  });

  it('matches a parameter only with one plain segment', () => {
    const table = compileRoutes([{ contract: operation('one', '/w/{id}'), to: 'workspace' }]);
    fc.assert(
      fc.property(fc.string({ unit: ANY_CHARACTER }), (text) => {
        if (table(`/w/${text}`) === null) return;
        assert.match(text, /^[\x21\x24-\x2e\x30-\x3b=\x40-\x5a_a-z~]+$/);
        assert.ok(text !== '.' && text !== '..');
      }),
    );
  });
});
