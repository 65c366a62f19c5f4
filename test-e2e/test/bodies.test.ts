import type { Person, TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { Description, type ApiOperation } from '../fuzz/description.ts';
import { idsIn, ACCESS_RULES } from './access-rules.ts';
import { sharedSystem } from './shared-system.ts';

const JSON_TYPE = 'application/json';
/** Content types that no body may have. A web page can send the first three to another origin without a CORS preflight. */
const OTHER_TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'application/json-patch+json',
  'application/json; charset=utf-16',
  'application/json; charset=latin1',
  null,
] as const;

const SCHEMA_TYPE = 'text/plain; charset=utf-8';

describe('bodies', () => {
  let testSystem: TestSystem;
  let operations: readonly ApiOperation[];
  let ann: Person;
  let workspaceId: string;
  before(async () => {
    testSystem = await sharedSystem();
    // The last owner of a workspace, whom no operation can remove.
    ann = await testSystem.person('Ann');
    workspaceId = (await testSystem.workspaceOf(ann)).id;
    // `sockets.test.ts` of the gateway tests the socket.
    operations = new Description((await testSystem.request(null, 'GET', '/openapi.json')).json()).operations.filter(
      ({ id }) => id !== 'syncSocket',
    );
  });

  async function request(
    { id, method }: ApiOperation,
    sending: { readonly type?: string | null; readonly token?: string | null; readonly encoding?: string } = {},
  ): Promise<{ status: number; type: string; text: string }> {
    const { type = JSON_TYPE, token = ann.token, encoding } = sending;
    const operation = ACCESS_RULES[id] as (typeof ACCESS_RULES)[string];
    const ids = idsIn(testSystem, { workspaceId, ownerId: ann.userId });
    const sent = operation.body?.(ids);
    const { status, headers, text } = await testSystem.request(token, method, operation.path(ids), {
      body: sent === undefined ? undefined : Buffer.from(JSON.stringify(sent)),
      headers: {
        ...(sent === undefined || type === null ? {} : { 'content-type': type }),
        ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
      },
    });
    return { status, type: headers['content-type'] ?? '', text };
  }

  it('of responses are JSON unless the description states another type, and of errors always [meta.bodies.json]', async () => {
    const stated: Record<string, string> = {};
    // Without a label, `/sync/batch` answers no line at all.
    await testSystem.put('Label', { workspaceId, name: 'One' });
    for (const operation of operations) {
      const { status, type, text } = await request(operation);
      const declared = Object.keys(operation.responses[status]?.content ?? {});
      // GraphQL has a second type, for clients that accept it.
      const negotiated = operation.id === 'graphql' ? ['application/graphql-response+json'] : [];
      assert.deepEqual(declared, [type, ...negotiated], `${operation.id} answered ${status}`);
      if (type !== JSON_TYPE) stated[operation.id] = type;
      if (type === SCHEMA_TYPE) continue;
      // Each line of NDJSON is JSON.
      for (const line of type === JSON_TYPE ? [text] : text.trimEnd().split('\n'))
        assert.doesNotThrow(() => JSON.parse(line), `${operation.id} answered ${status}: ${text.slice(-200)}`);

      const refused = await request(operation, { token: null });
      if (refused.status < 400) continue;
      assert.equal(refused.type, JSON_TYPE, operation.id);
      assert.equal((JSON.parse(refused.text) as { statusCode: number }).statusCode, refused.status);
    }
    const ndjson = 'application/x-ndjson';
    assert.deepEqual(stated, {
      graphqlSchema: SCHEMA_TYPE,
      syncBootstrap: ndjson,
      syncBootstrapPost: ndjson,
      syncBatch: ndjson,
    });
  });

  it('of requests must be JSON: every operation refuses other types with 415 [errors.415.media-type, meta.bodies.json]', async () => {
    const taking = operations.filter(({ body }) => body !== null);
    assert.ok(taking.length >= 7);
    for (const operation of taking) {
      for (const type of OTHER_TYPES) {
        const { status, text } = await request(operation, { type });
        assert.equal(status, 415, `${operation.id} took ${type}: ${text}`);
        assert.match(text, /"code":"unsupported_media_type"/);
      }
      assert.equal((await request(operation, { encoding: 'gzip' })).status, 415, `${operation.id} inflates`);
      assert.ok(operation.responses[415], `${operation.id} does not declare 415`);
    }
  });
});
