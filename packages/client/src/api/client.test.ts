import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { createApiClient, GraphqlError, SyncError, type ApiClient } from './index.ts';

interface Call {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

type Answer = (res: ServerResponse) => void;

const reply =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (res) =>
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const refusal = (status: number, code: string): Answer =>
  reply(status, { error: 'Refused', ok: false, statusCode: status, code, message: 'why', requestId: 'r-1' });
const lost: Answer = (res) => res.socket?.destroy();

/** A server that gives these answers, one after the other; what the real one does is tested in test-e2e. */
async function serve(
  ...answers: Answer[]
): Promise<{ api: ApiClient; calls: Call[]; pauses: number[] } & AsyncDisposable> {
  const pauses: number[] = [];
  const calls: Call[] = [];
  const server = createServer((req, res) => {
    const { method = '', url = '', headers } = req;
    void json(req)
      .catch(() => undefined)
      .then((body) => {
        calls.push({ line: `${method} ${url}`, headers, body });
        (answers.shift() ?? refusal(500, 'internal'))(res);
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    api: createApiClient({
      baseUrl,
      token: 'token',
      retry: { firstPauseMs: 1, pauseMsMax: 5, onPause: (ms) => pauses.push(ms) },
    }),
    calls,
    pauses,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const NOT_UNDERSTOOD = /^The answer of http:\/\/127\.0\.0\.1:\d+ is not understood: it may be no Workspace/;
const ENDPOINT = { url: 'https://example.com/', workspaceId: 'w' };

describe('an operation of the API', () => {
  it('puts what it is given into the path, the body, or the query where there is no body', async () => {
    const answer = { ok: true, endpoint: {}, deliveries: [], secret: '', rotatedAt: '', workspaces: [] };
    await using at = await serve(...Array.from({ length: 4 }, () => reply(200, answer)));
    await at.api.updateWebhookEndpoint({ id: 'a/b', enabled: false });
    await at.api.listWebhookDeliveries({ id: 'x', limit: 5, before: '2026-11-23T00:00:00.000Z' });
    await at.api.rotateWebhookSecret({ id: 'x' });
    await at.api.listWorkspaces();
    assert.deepEqual(
      at.calls.map(({ line, body }) => [line, body]),
      [
        ['PATCH /api/webhooks/a%2Fb', { enabled: false }],
        ['GET /api/webhooks/x/deliveries?limit=5&before=2026-11-23T00%3A00%3A00.000Z', undefined],
        ['POST /api/webhooks/x/rotate-secret', undefined],
        ['GET /api/workspaces', undefined],
      ],
    );
    for (const { headers } of at.calls)
      assert.deepEqual([headers.authorization, headers['api-version']], ['Bearer token', '1']);
  });

  it('is never sent to the path of another one', async () => {
    await using at = await serve();
    for (const slug of ['', '.', '..']) await assert.rejects(at.api.getWorkspaceBySlug({ slug }), TypeError);
    assert.equal(at.calls.length, 0);
  });

  it('that creates something is repeated with the same key when its reply is lost', async () => {
    await using at = await serve(
      lost,
      refusal(409, 'idempotency_in_flight'),
      refusal(503, 'unavailable'),
      reply(201, { ok: true, endpoint: {}, secret: 'whsec_' }),
    );
    const { secret } = await at.api.createWebhookEndpoint(ENDPOINT);
    assert.equal(secret, 'whsec_');
    assert.equal(new Set(at.calls.map(({ headers }) => headers['idempotency-key'])).size, 1);
    assert.equal(at.calls.length, 4);
    await assert.rejects(at.api.createWebhookEndpoint(ENDPOINT, { idempotencyKey: 'mine' }));
    assert.equal(at.calls.at(-1)?.headers['idempotency-key'], 'mine');
  });

  it('that would do its work twice is repeated only when the server has refused it before any work', async () => {
    const attempt = { id: 'x', deliveryId: 'd' };
    await using at = await serve(refusal(429, 'rate_limited'), lost);
    await assert.rejects(at.api.retryWebhookDelivery(attempt), { code: 'connection_failed' });
    assert.equal(at.calls.length, 2);
  });

  it('throws at once when the service asks to wait until after its deadline, and reports each shorter wait', async () => {
    const limited = (seconds: number): Answer => reply(429, { code: 'rate_limited' }, { 'retry-after': `${seconds}` });
    const inGraphql = reply(200, {
      errors: [{ message: 'x', extensions: { code: 'RATE_LIMITED', retryAfterSeconds: 60 } }],
    });
    await using at = await serve(
      limited(31),
      limited(60),
      inGraphql,
      limited(0.01),
      reply(200, { ok: true, workspaces: [] }),
    );
    await assert.rejects(at.api.listWorkspaces(), { code: 'rate_limited', retryAfterMs: 31_000 });
    await assert.rejects(at.api.graphql('{ viewer { id } }'), { code: 'rate_limited', retryAfterMs: 60_000 });
    await assert.rejects(at.api.graphql('{ viewer { id } }'), { graphqlCode: 'RATE_LIMITED', retryAfterMs: 60_000 });
    assert.deepEqual(at.pauses, []);
    await at.api.listWorkspaces();
    assert.equal(at.pauses.length, 1);
  });

  it('throws at once where the answer is that of another program or version, with the address', async () => {
    const answers = [{}, [], null, { ok: true }];
    await using at = await serve(...answers.map((one) => reply(200, one as object)));
    for (const [index] of answers.entries()) {
      const refused = { code: 'answer_invalid', status: 200, message: NOT_UNDERSTOOD };
      await assert.rejects(at.api.listWorkspaces(), refused);
      assert.equal(at.calls.length, index + 1);
    }
  });

  it('that deletes succeeds when an attempt whose reply was lost has deleted', async () => {
    await using at = await serve(lost, refusal(404, 'not_found'), refusal(404, 'not_found'));
    assert.deepEqual(await at.api.deleteWebhookEndpoint({ id: 'x' }), { ok: true });
    await assert.rejects(at.api.deleteWebhookEndpoint({ id: 'x' }), { code: 'not_found', status: 404 });
    await using early = await serve(refusal(429, 'rate_limited'), refusal(404, 'not_found'));
    await assert.rejects(early.api.deleteWebhookEndpoint({ id: 'x' }), { code: 'not_found', status: 404 });
  });

  it('that deletes and answers more than that is never answered by the client', async () => {
    await using at = await serve(lost, refusal(404, 'not_found'));
    await assert.rejects(at.api.removeMember({ workspaceId: 'w', userId: 'u' }), { code: 'not_found', status: 404 });
  });

  it('throws the code, the message and the request id of a refusal', async () => {
    await using at = await serve(refusal(402, 'endpoint_limit_reached'));
    await assert.rejects(at.api.createWebhookEndpoint(ENDPOINT), (error) => {
      assert.ok(error instanceof SyncError);
      const { code, message, requestId, status, isTemporary } = error;
      assert.deepEqual(
        [code, message, requestId, status, isTemporary],
        ['endpoint_limit_reached', 'why (HTTP 402)', 'r-1', 402, false],
      );
      return true;
    });
  });
});

describe('an operation of GraphQL', () => {
  const failed = (code: string): Answer =>
    reply(
      200,
      { data: { a: 1, b: null }, errors: [{ message: 'why', extensions: { code } }] },
      { 'x-request-id': 'r-2' },
    );

  it('gives its data, and sends its variables', async () => {
    await using at = await serve(reply(200, { data: { viewer: { id: 'u' } } }));
    const { viewer } = await at.api.graphql<{ viewer: { id: string } }>('query($a: Int) { viewer { id } }', { a: 1 });
    assert.equal(viewer.id, 'u');
    assert.deepEqual(at.calls[0]?.body, { query: 'query($a: Int) { viewer { id } }', variables: { a: 1 } });
  });

  it('throws what failed, with the rest of the data and the request id', async () => {
    await using at = await serve(failed('NOT_FOUND'));
    await assert.rejects(at.api.graphql('{ a b }'), (error) => {
      assert.ok(error instanceof GraphqlError && error instanceof SyncError);
      assert.deepEqual([error.graphqlCode, error.message, error.requestId], ['NOT_FOUND', 'why', 'r-2']);
      assert.deepEqual(error.data, { a: 1, b: null });
      return true;
    });
    assert.equal(at.calls.length, 1);
  });

  it('throws at once where the answer is none of GraphQL, with the address', async () => {
    const answers = [{}, [], { data: {} }, { data: null }];
    await using at = await serve(...answers.map((one) => reply(200, one)));
    for (const [index] of answers.entries()) {
      await assert.rejects(at.api.graphql('{ a }'), (error) => {
        assert.ok(error instanceof GraphqlError);
        assert.equal(error.graphqlCode, 'ANSWER_INVALID');
        assert.match(error.message, NOT_UNDERSTOOD);
        return true;
      });
      assert.equal(at.calls.length, index + 1);
    }
  });

  it('is repeated after a temporary failure, and a mutation only where the caller allows it', async () => {
    await using at = await serve(
      failed('UNAVAILABLE'),
      reply(200, { data: { a: 1 } }),
      lost,
      lost,
      reply(200, { data: { b: 1 } }),
    );
    assert.deepEqual(await at.api.graphql('{ a }'), { a: 1 });
    const mutation = 'mutation { taskDelete(id: "x") { success } }';
    await assert.rejects(at.api.graphql(mutation), { code: 'connection_failed' });
    assert.deepEqual(await at.api.graphql(mutation, {}, { isRepeatable: true }), { b: 1 });
  });
});
