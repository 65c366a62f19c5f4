import assert from 'node:assert/strict';
import { RawClient, errorOf, request, say } from './raw.ts';
import type { RawReply } from './raw.ts';
import { startWorld, until } from './world.ts';
import type { World } from './world.ts';

/** A second request, hidden in what a careless reader takes for a body. Must never be seen by a service. */
const HIDDEN = 'GET /sync/deltas?hidden=1 HTTP/1.1\r\nHost: api.test\r\n\r\n';

describe('a request two readers could read differently', () => {
  let world: World;
  let credential: string;
  before(async () => {
    world = await startWorld();
    credential = `Authorization: Bearer ${world.fullKey}`;
    await say(world.api, request('GET /sync/deltas', [credential]));
  });
  after(() => world.close());
  beforeEach(() => world.sync.reset());

  /** Says bytes, and returns the first answer after the other side closed the connection. */
  async function refused(bytes: string): Promise<RawReply> {
    const client = await RawClient.open(world.api);
    const reply = await client.send(bytes).reply();
    await client.ended();
    assert.equal(client.rest.length, 0, 'a second answer came');
    return reply;
  }

  const mutate = (lines: readonly string[], body: string): string =>
    request('POST /sync/mutate', [credential, 'Content-Type: application/json', ...lines], body);

  for (const [what, bytes] of Object.entries<() => string>({
    'a length and chunks': () => mutate(['Content-Length: 6', 'Transfer-Encoding: chunked'], `0\r\n\r\n${HIDDEN}`),
    'chunks and a length': () => mutate(['Transfer-Encoding: chunked', 'Content-Length: 4'], `0\r\n\r\n${HIDDEN}`),
    'two lengths': () => mutate(['Content-Length: 0', `Content-Length: ${HIDDEN.length}`], HIDDEN),
    'the same length twice': () => mutate(['Content-Length: 2', 'Content-Length: 2'], '{}'),
    'a list of lengths': () => mutate(['Content-Length: 2, 2'], '{}'),
    'a signed length': () => mutate(['Content-Length: +2'], '{}'),
    'a hexadecimal length': () => mutate(['Content-Length: 0x2'], '{}'),
    'a negative length': () => mutate(['Content-Length: -1'], HIDDEN),
    'a length beyond all numbers': () => mutate(['Content-Length: 99999999999999999999999'], '{}'),
    'an unknown transfer coding': () => mutate(['Transfer-Encoding: xchunked'], `0\r\n\r\n${HIDDEN}`),
    'chunked before another coding': () => mutate(['Transfer-Encoding: chunked, identity'], `0\r\n\r\n${HIDDEN}`),
    'two transfer codings': () =>
      mutate(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], `0\r\n\r\n${HIDDEN}`),
    'a blank before the colon': () => mutate(['Transfer-Encoding : chunked'], `0\r\n\r\n${HIDDEN}`),
    'a folded header line': () => mutate(['X-A: b', ' Transfer-Encoding: chunked'], `0\r\n\r\n${HIDDEN}`),
    'a bare line feed': () => mutate(['X-A: b\nTransfer-Encoding: chunked'], `0\r\n\r\n${HIDDEN}`),
    'a bare carriage return': () => mutate(['X-A: b\rTransfer-Encoding: chunked'], `0\r\n\r\n${HIDDEN}`),
    'a NUL in a header': () => mutate(['X-A: b\0c'], ''),
    'a header name with a blank': () => mutate(['X A: b'], ''),
    'a bad chunk size': () => mutate(['Transfer-Encoding: chunked'], `zz\r\n{}\r\n0\r\n\r\n${HIDDEN}`),
    'a chunk longer than it says': () => mutate(['Transfer-Encoding: chunked'], `1\r\n{}}\r\n0\r\n\r\n${HIDDEN}`),
    'two hosts': () => request('GET /sync/deltas', [credential, 'Host: evil.test']),
    'no host': () => `GET /sync/deltas HTTP/1.1\r\n${credential}\r\n\r\n`,
    'an address with a host in it': () => request('GET http://evil.test/sync/deltas', [credential]),
    'an address without a slash': () => request('GET sync/deltas', [credential]),
    'an asterisk': () => request('OPTIONS *'),
    'a fragment in the address': () => request('GET /sync/deltas#x', [credential]),
    'a backslash in the address': () => request('GET /sync\\deltas', [credential]),
    'bytes beyond ASCII in the address': () => request('GET /sync/d\xc3\xa9ltas', [credential]),
    'HTTP/0.9': () => 'GET /sync/deltas\r\n\r\n',
    'HTTP/2.0 by word only': () => 'GET /sync/deltas HTTP/2.0\r\nHost: api.test\r\n\r\n',
  })) {
    it(`is refused with 400 and reaches no service: ${what}`, async () => {
      const reply = await say(world.api, bytes());
      errorOf(reply, 400);
      assert.equal(world.sync.seen.length, 0);
      assert.ok(world.sync.seen.every((seen) => !seen.url.includes('hidden')));
    });
  }

  it('ends the connection it came on, so that nothing behind it is read as a request', async () => {
    const reply = await refused(mutate(['Content-Length: 6', 'Transfer-Encoding: chunked'], `0\r\n\r\n${HIDDEN}`));
    errorOf(reply, 400, 'malformed_request');
    assert.equal(world.sync.started, 0);
  });

  it('is never made of the body of another: what a length covers stays a body', async () => {
    const client = await RawClient.open(world.api);
    client.send(
      mutate([`Content-Length: ${HIDDEN.length}`], HIDDEN) + request('GET /sync/deltas?next=1', [credential]),
    );
    assert.equal((await client.reply()).status, 200);
    assert.equal((await client.reply()).status, 200);
    assert.deepEqual(
      world.sync.seen.map(({ method, url, body }) => [method, url, body.toString()]),
      [
        ['POST', '/sync/mutate', HIDDEN],
        ['GET', '/sync/deltas?next=1', ''],
      ],
    );
    client.destroy();
  });

  it('is never made of the body of a GET, which is dropped', async () => {
    for (const [lines, body] of [
      [[`Content-Length: ${HIDDEN.length}`], HIDDEN],
      [['Transfer-Encoding: chunked'], `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`],
    ] as const) {
      world.sync.reset();
      const reply = await say(world.api, request('GET /sync/deltas', [credential, ...lines], body));
      assert.equal(reply.status, 200);
      assert.equal(world.sync.started, 1);
      assert.equal(world.sync.last.body.length, 0);
      assert.equal(world.sync.last.headers['content-length'], undefined);
      assert.equal(world.sync.last.headers['transfer-encoding'], undefined);
    }
  });

  it('keeps a connection usable after a small body that was dropped', async () => {
    const client = await RawClient.open(world.api);
    client.send(request('GET /sync/deltas', [credential, 'Content-Length: 5'], 'hello'));
    client.send(request('GET /health'));
    assert.equal((await client.reply()).status, 200);
    assert.equal((await client.reply()).body, '{"ok":true,"status":"up"}');
    client.destroy();
  });

  it('never counts more requests at the service than were sent, whatever stands in a chunk', async () => {
    const body = `${HIDDEN.length.toString(16)};ext="a"\r\n${HIDDEN}\r\n0\r\nTrailer-Field: x\r\n\r\n`;
    const reply = await say(world.api, mutate(['Transfer-Encoding: chunked'], body));
    assert.equal(reply.status, 200);
    await until('the service saw it', () => world.sync.seen.length > 0);
    assert.equal(world.sync.started, 1);
    assert.equal(world.sync.last.body.toString(), HIDDEN);
  });
});

describe('a path that means something else once decoded', () => {
  let world: World;
  let credential: string;
  before(async () => {
    world = await startWorld();
    credential = `Authorization: Bearer ${world.fullKey}`;
  });
  after(() => world.close());

  const ask = (path: string): Promise<RawReply> => say(world.api, request(`GET ${path}`, [credential]));

  it('is refused with 400 when it hides a separator, a dot segment, a control character or broken UTF-8 [errors.400.bad-text]', async () => {
    for (const segment of [
      'a%2Fb',
      'a%2fb',
      '%2e%2e',
      '.%2E',
      '%2e',
      'a%5Cb',
      'a%00b',
      'a%0d%0ab',
      '%ff',
      '%c0%af',
      '%',
      '%zz',
    ]) {
      errorOf(await ask(`/api/workspaces/by-slug/${segment}`), 400, 'malformed_request');
    }
    errorOf(await ask('/%2e%2e/internal/commit'), 400, 'malformed_request');
    assert.equal(world.workspace.started, 0);
  });

  it('is 404 when its dots and slashes stand open', async () => {
    for (const path of [
      '/api/workspaces/by-slug/..',
      '/api/workspaces/by-slug/../..',
      '/api/workspaces/by-slug//x',
      '/sync/../internal/commit',
    ]) {
      errorOf(await ask(path), 404, 'not_found');
    }
    assert.equal(world.workspace.started, 0);
  });

  it('reaches the service byte for byte as it was sent when it is plain', async () => {
    for (const path of ['/api/workspaces/by-slug/a-b', '/api/workspaces/by-slug/%D0%B0%20b?x=%2F..%2F&y=[]&y=a+b']) {
      assert.equal((await ask(path)).status, 200);
      assert.equal(world.workspace.last.url, path);
    }
  });
});
