import assert from 'node:assert/strict';
import { deprecationHeaders } from '../src/deprecations.ts';
import { compileRoutes } from '../src/edge/route-table.ts';
import { API_ROUTES } from '../src/routes.ts';
import { openBareEdge, type BareEdge } from './bare-edge.ts';
import { request, exchange } from './raw.ts';

describe('a deprecated operation', () => {
  let edge: BareEdge;

  before(async () => {
    const row = { deprecatedOn: '2026-11-01', sunsetOn: '2027-03-01', link: 'https://docs.example.com/x' };
    const notices = deprecationHeaders([{ operation: 'listWorkspaces', ...row }], new Set(['listWorkspaces']));
    edge = await openBareEdge(compileRoutes(API_ROUTES, notices));
  });
  after(() => edge[Symbol.asyncDispose]());

  it('announces it on every answer and error, and other methods of the same path do not [versioning.retiring.headers]', async () => {
    const { port } = edge;
    const retiring = await exchange(port, request('GET /api/workspaces'));
    assert.equal(retiring.status, 401);
    assert.deepEqual(retiring.headers.deprecation, ['Sun, 01 Nov 2026 00:00:00 GMT']);
    assert.deepEqual(retiring.headers.sunset, ['Mon, 01 Mar 2027 00:00:00 GMT']);
    assert.deepEqual(retiring.headers.link, ['<https://docs.example.com/x>; rel="deprecation"; type="text/html"']);
    const neighbour = await exchange(port, request('POST /api/workspaces'));
    assert.equal(neighbour.headers.deprecation, undefined);
  });
});
