import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { GRAPH_ERRORS } from '../src/domain/errors.ts';
import { buildSchema } from 'graphql';
import { serverAudits } from 'graphql-http';
import { codesOf, personWith, TestGraph } from './test-graph.ts';

const TYPENAME = '{ __typename }';

describe('POST /graphql', () => {
  let graph: TestGraph;

  before(async () => (graph = await TestGraph.open('graph-http')));
  after(() => graph[Symbol.asyncDispose]());

  it('passes every audit of GraphQL over HTTP, except those for GET [graphql.post.audits]', async () => {
    const principal = personWith('read');
    const audits = serverAudits({
      url: `${graph.service.url}/graphql`,
      fetchFn: (url: string, init: RequestInit = {}) =>
        fetch(url, {
          ...init,
          headers: { ...(init.headers as Record<string, string>), ...graph.headersOf(principal) },
        }),
    });
    const unmet: string[] = [];
    for (const audit of audits) {
      const result = await audit.fn();
      if (result.status !== 'ok') unmet.push(`${result.status}: ${audit.name}`);
    }
    assert.ok(audits.length > 55, `${audits.length} audits`);
    assert.deepEqual(
      unmet.filter((line) => !/^notice: .*\bGETs?\b/.test(line)),
      [],
    );
    assert.equal(unmet.length, 3);
  });

  it('answers 200 with data, and with errors of the request [graphql.post.answer]', async () => {
    const fine = await graph.query(TYPENAME);
    assert.deepEqual([fine.status, fine.type], [200, 'application/json']);
    assert.deepEqual(fine.body, { data: { __typename: 'Query' } });
    const wrong = await graph.query('{ nothing }');
    assert.equal(wrong.status, 200);
    assert.deepEqual(codesOf(wrong), ['VALIDATION_FAILED']);
    assert.equal(wrong.headers.get('cache-control'), 'no-store');
    assert.equal(wrong.body.errors?.[0]?.extensions.requestId, wrong.headers.get('x-request-id'));
  });

  it('needs query, and takes variables [graphql.post.body]', async () => {
    const without = await graph.query(null);
    assert.deepEqual([without.status, without.body.code], [400, 'validation_failed']);
    const document = 'query ($name: String!) { __type(name: $name) { name } }';
    const named = await graph.query(document, { variables: { name: 'Query' } });
    assert.deepEqual(named.body, { data: { __type: { name: 'Query' } } });
    const missing = await graph.query(document);
    assert.deepEqual(codesOf(missing), ['BAD_USER_INPUT']);
  });

  it('refuses a message that is none of GraphQL in the shape of every error [graphql.post.audits]', async () => {
    const cases: [name: string, request: Parameters<TestGraph['query']>[1], status: number, code: string][] = [
      ['a list of operations', { body: [{ query: TYPENAME }] }, 400, 'validation_failed'],
      ['no JSON', { body: '{' }, 400, 'malformed_json'],
      ['a query that is a number', { body: { query: 1 } }, 400, 'validation_failed'],
      ['variables that are a list', { body: { query: TYPENAME, variables: [] } }, 400, 'validation_failed'],
      ['a NUL character', { body: { query: TYPENAME, variables: { a: '\0' } } }, 400, 'validation_failed'],
      [
        'a lone surrogate',
        { body: '{"query":"{ __typename }","variables":{"a":"\\ud800"}}' },
        400,
        'validation_failed',
      ],
      [
        'a form',
        { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'query=a' },
        415,
        'unsupported_media_type',
      ],
      [
        'a document as a body',
        { headers: { 'content-type': 'application/graphql' }, body: TYPENAME },
        415,
        'unsupported_media_type',
      ],
      ['plain text', { headers: { 'content-type': 'text/plain' }, body: '{}' }, 415, 'unsupported_media_type'],
      ['another type wanted', { headers: { accept: 'text/html' } }, 406, 'not_acceptable'],
      [
        'a huge body',
        { body: { query: TYPENAME, variables: { a: 'x'.repeat(1024 * 1024) } } },
        413,
        'payload_too_large',
      ],
      [
        'deep variables',
        { body: `{"query":"{ __typename }","variables":{"a":${'['.repeat(80)}${']'.repeat(80)}}}` },
        400,
        'malformed_json',
      ],
    ];
    for (const [name, request, status, code] of cases) {
      const answer = await graph.query(TYPENAME, request);
      assert.deepEqual([answer.status, answer.body.code], [status, code], name);
      assert.equal(answer.type, 'application/json', name);
    }
  });

  it('refuses other methods with Allow: POST', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await fetch(`${graph.service.url}/graphql?query={__typename}`, { method });
      assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'POST']);
    }
  });

  it('needs a principal with read [graphql.scope.any-bearer]', async () => {
    const none = await fetch(`${graph.service.url}/graphql`, { method: 'POST', body: '{}' });
    assert.equal(none.status, 401);
    const powerless = await graph.query(TYPENAME, { principal: personWith() });
    assert.deepEqual([powerless.status, powerless.body.code], [403, 'insufficient_scope']);
    for (const kind of ['api_key', 'jwt', 'oauth'] as const) {
      const principal = { ...personWith('read'), credential: { kind, id: 'any' } };
      assert.equal((await graph.query(TYPENAME, { principal })).status, 200, kind);
    }
  });

  it('runs mutations only with write, and decides before anything runs', async () => {
    const document = 'mutation { __typename }';
    const reader = await graph.query(document, { principal: personWith('read') });
    assert.deepEqual([reader.status, codesOf(reader), reader.body.data], [200, ['FORBIDDEN'], undefined]);
    assert.deepEqual((await graph.query(document)).body, { data: { __typename: 'Mutation' } });
  });

  it('changes workspaces and their people only with admin, as the models declare [authentication.scopes.people]', async () => {
    const id = randomUUID();
    const principal = personWith('read', 'write');
    for (const change of [
      `workspaceUpdate(id: "${id}", input: {name: "Taken"}) { success }`,
      `workspaceMemberUpdate(id: "${id}", input: {role: owner}) { success }`,
      `projectMemberCreate(input: {projectId: "${id}", userId: "${id}"}) { success }`,
    ]) {
      const answer = await graph.query(`mutation { ${change} }`, { principal });
      assert.deepEqual(codesOf(answer), ['FORBIDDEN'], change);
      assert.match(answer.body.errors?.[0]?.message ?? '', /scope admin/, change);
    }
  });

  it('shows the cost of an operation to who asks for it', async () => {
    const plain = await graph.query(TYPENAME);
    assert.equal(plain.body.extensions, undefined);
    const { body } = await graph.query(TYPENAME, { headers: { 'x-graphql-cost': '1' } });
    assert.deepEqual(body.extensions, { cost: { nodes: 0, nodesMax: 10_000, objects: 0, objectsMax: 50_000 } });
  });

  it('finds a document by its hash after it was sent once [graphql.documents.hash]', async () => {
    const document = '{ hashed: __typename }';
    const extensions = {
      persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(document).digest('hex') },
    };
    const unknown = await graph.query(null, { extensions });
    assert.deepEqual(codesOf(unknown), ['PERSISTED_QUERY_NOT_FOUND']);
    assert.equal(unknown.body.errors?.[0]?.message, 'PersistedQueryNotFound');
    assert.deepEqual((await graph.query(document, { extensions })).body, { data: { hashed: 'Query' } });
    assert.deepEqual((await graph.query(null, { extensions })).body, { data: { hashed: 'Query' } });
    assert.deepEqual(codesOf(await graph.query(TYPENAME, { extensions })), ['BAD_USER_INPUT']);
  });

  it('serves the schema that it executes as text, without a credential [graphql.schema.sdl]', async () => {
    const answer = await fetch(`${graph.service.url}/graphql/schema.graphql`);
    const text = await answer.text();
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'text/plain; charset=utf-8']);
    assert.ok(text.includes('@deprecated(reason: "'));
    const served = Object.keys(buildSchema(text).getTypeMap()).filter((name) => !name.startsWith('__'));
    const { body } = await graph.query('{ __schema { types { name } } }');
    const executed = (body.data as { __schema: { types: { name: string }[] } }).__schema.types.map(({ name }) => name);
    assert.deepEqual(served.toSorted(), executed.filter((name) => !name.startsWith('__')).toSorted());
    for (const code of Object.keys(GRAPH_ERRORS)) assert.ok(text.includes(code), code);
  });

  it('answers huge and hostile values shortly, with a code and without a trace of the engine [graphql.errors.coded]', async () => {
    const byId = 'query ($id: ID!) { task(id: $id) { id } }';
    const page = 'query ($first: Int) { tasks(first: $first) { nodes { id } } }';
    const cases: [name: string, document: string, variables: Record<string, unknown>, code: string][] = [
      ['a huge id', byId, { id: 'x'.repeat(900_000) }, 'BAD_USER_INPUT'],
      [
        'an object as an id',
        byId,
        { id: { a: Array.from({ length: 500 }, () => 'x'.repeat(1000)) } },
        'BAD_USER_INPUT',
      ],
      ['a NUL in a literal', '{ task(id: "a\\u0000b") { id } }', {}, 'VALIDATION_FAILED'],
      ['a negative page', page, { first: -1 }, 'BAD_USER_INPUT'],
      ['a large page', page, { first: 101 }, 'BAD_USER_INPUT'],
      ['a page beyond integers', page, { first: 2 ** 40 }, 'BAD_USER_INPUT'],
      ['a forged cursor', '{ tasks(after: "bm8=") { nodes { id } } }', {}, 'BAD_USER_INPUT'],
      ['1600 levels', `{${'viewer{'.repeat(1600)}id${'}'.repeat(1600)}}`, {}, 'DEPTH_LIMIT_EXCEEDED'],
      [
        '5000 aliases',
        `{${Array.from({ length: 5000 }, (_, at) => `a${at}: viewer { id }`).join(' ')}}`,
        {},
        'PARSE_FAILED',
      ],
    ];
    for (const [name, document, variables, code] of cases) {
      const answer = await graph.query(document, { variables });
      assert.deepEqual([answer.status, codesOf(answer)[0]], [200, code], `${name}: ${answer.text.slice(0, 500)}`);
      assert.ok(answer.text.length < 3000, name);
      assert.doesNotMatch(answer.text, /node_modules|RangeError|TypeError|\bat .*:\d+:\d+/, name);
    }
  });

  it('writes one line for each request, without its document and its variables', async () => {
    graph.logs.length = 0;
    const document = 'query Named($secret: String!) { __type(name: $secret) { name } }';
    await graph.query(document, { variables: { secret: 'a-secret-value' } });
    const lines = graph.logs.map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.equal(lines.length, 1);
    assert.deepEqual([lines[0]?.['route'], lines[0]?.['operation'], lines[0]?.['kind']], ['graphql', 'Named', 'query']);
    assert.ok(!graph.logs.join('').includes('a-secret-value'));
  });
});
