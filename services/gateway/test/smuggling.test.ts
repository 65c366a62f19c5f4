import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import { HIDDEN_SEGMENTS, OPEN_DOTS, ambiguousRequests, hiddenRequest, mutation } from './requests.ts';
import { RawClient, errorOf, request, exchange, type RawReply } from './raw.ts';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

describe('a request that two parsers could read differently', () => {
  let testGateway: TestGateway;
  let credential: string;
  let hidden: string;
  before(async () => {
    testGateway = await startTestGateway();
    credential = `Authorization: Bearer ${testGateway.fullKey}`;
    hidden = hiddenRequest(`Authorization: Bearer ${testGateway.readKey}`);
    await exchange(testGateway.api, request('GET /sync/deltas', [credential]));
  });
  after(() => testGateway.close());
  beforeEach(() => testGateway.sync.reset());

  /** Sends bytes, and returns the first answer after the other side closed the connection. */
  async function refused(bytes: string): Promise<RawReply> {
    const client = await RawClient.open(testGateway.api);
    const reply = await client.send(bytes).reply();
    await client.ended();
    assert.equal(client.rest.length, 0, 'there was a second answer');
    return reply;
  }

  const mutate = (lines: readonly string[], body: string): string => mutation(credential, lines, body);

  for (const what of Object.keys(ambiguousRequests({ credential: '', hidden: '' }))) {
    it(`is refused with 400 and reaches no service: ${what}`, async () => {
      const reply = await exchange(testGateway.api, ambiguousRequests({ credential, hidden })[what] ?? '');
      errorOf(reply, 400);
      assert.equal(testGateway.sync.started, 0);
    });
  }

  it('ends its connection, so that no bytes after it are read as a request', async () => {
    const reply = await refused(mutate(['Content-Length: 6', 'Transfer-Encoding: chunked'], `0\r\n\r\n${hidden}`));
    errorOf(reply, 400, 'malformed_request');
    assert.equal(testGateway.sync.started, 0);
  });

  it('is never read from the body of another request', async () => {
    const client = await RawClient.open(testGateway.api);
    client.send(
      mutate([`Content-Length: ${hidden.length}`], hidden) + request('GET /sync/deltas?next=1', [credential]),
    );
    assert.equal((await client.reply()).status, 200);
    assert.equal((await client.reply()).status, 200);
    assert.deepEqual(
      testGateway.sync.seen.map(({ method, url, body }) => [method, url, body.toString()]),
      [
        ['POST', '/sync/mutate', hidden],
        ['GET', '/sync/deltas?next=1', ''],
      ],
    );
    client.destroy();
  });

  it('is never read from the body of a GET, which is dropped', async () => {
    for (const [lines, body] of [
      [[`Content-Length: ${hidden.length}`], hidden],
      [['Transfer-Encoding: chunked'], `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`],
    ] as const) {
      testGateway.sync.reset();
      const reply = await exchange(testGateway.api, request('GET /sync/deltas', [credential, ...lines], body));
      assert.equal(reply.status, 200);
      assert.equal(testGateway.sync.started, 1);
      assert.equal(testGateway.sync.last.body.length, 0);
      assert.equal(testGateway.sync.last.headers['content-length'], undefined);
      assert.equal(testGateway.sync.last.headers['transfer-encoding'], undefined);
    }
  });

  it('leaves a connection usable when its small body was dropped', async () => {
    const client = await RawClient.open(testGateway.api);
    client.send(request('GET /sync/deltas', [credential, 'Content-Length: 5'], 'hello'));
    client.send(request('GET /health'));
    assert.equal((await client.reply()).status, 200);
    assert.equal((await client.reply()).body, '{"ok":true,"status":"up"}');
    client.destroy();
  });

  it('never becomes more requests at the service than were sent, with any chunk', async () => {
    const body = `${hidden.length.toString(16)};ext="a"\r\n${hidden}\r\n0\r\nTrailer-Field: x\r\n\r\n`;
    const reply = await exchange(testGateway.api, mutate(['Transfer-Encoding: chunked'], body));
    assert.equal(reply.status, 200);
    await eventually(() => testGateway.sync.seen.length > 0);
    assert.equal(testGateway.sync.started, 1);
    assert.equal(testGateway.sync.last.body.toString(), hidden);
  });
});

describe('a path that differs after decoding', () => {
  let testGateway: TestGateway;
  let credential: string;
  before(async () => {
    testGateway = await startTestGateway();
    credential = `Authorization: Bearer ${testGateway.fullKey}`;
  });
  after(() => testGateway.close());

  const call = (path: string): Promise<RawReply> => exchange(testGateway.api, request(`GET ${path}`, [credential]));

  it('is refused with 400 when it hides a separator, a dot segment, a control character or broken UTF-8 [errors.400.bad-text]', async () => {
    for (const segment of HIDDEN_SEGMENTS)
      errorOf(await call(`/api/workspaces/by-slug/${segment}`), 400, 'malformed_request');
    errorOf(await call('/%2e%2e/internal/commit'), 400, 'malformed_request');
    assert.equal(testGateway.workspace.started, 0);
  });

  it('is 404 when its dots and slashes are not encoded', async () => {
    for (const path of OPEN_DOTS) errorOf(await call(path), 404, 'not_found');
    assert.equal(testGateway.workspace.started, 0);
  });

  it('reaches the service byte for byte when it hides nothing', async () => {
    for (const path of ['/api/workspaces/by-slug/a-b', '/api/workspaces/by-slug/%D0%B0%20b?x=%2F..%2F&y=[]&y=a+b']) {
      assert.equal((await call(path)).status, 200);
      assert.equal(testGateway.workspace.last.url, path);
    }
  });
});
