import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { eventually } from '@wts/testkit';
import { API_VERSION, LIMITS, type ErrorBody, type ErrorCode } from '@wts/contracts';
import { ann, LIMIT_BYTES } from './demo.ts';
import { as, startDemo, type Running } from './running-demo.ts';
import { raw, type RawAnswer } from './raw.ts';

function isRefusal(answer: RawAnswer, status: number, code: ErrorCode): RawAnswer {
  assert.equal(answer.status, status, answer.text);
  const body = JSON.parse(answer.body) as ErrorBody;
  assert.deepEqual([body.ok, body.statusCode, body.code], [false, status, code]);
  assert.equal(answer.headers['api-version'], API_VERSION);
  assert.equal(answer.headers['x-request-id'], body.requestId);
  assert.equal(answer.headers['content-type'], 'application/json');
  return answer;
}

/** Made for each request, because a token is valid for a minute, which the suite may exceed on a busy machine. */
const token = (): string =>
  Object.entries(as(ann))
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');

describe('bytes on the wire', () => {
  let demo: Running;
  let port: number;
  before(async () => {
    demo = await startDemo();
    ({ port } = demo.service);
  });
  after(() => demo.service.close());
  const send = (...parts: (string | Buffer)[]): Promise<RawAnswer> => raw({ port, parts });
  const post = (fields: string, body: string): Promise<RawAnswer> =>
    send(`POST /things/a HTTP/1.1\r\nHost: a\r\n${token()}Content-Type: application/json\r\n${fields}\r\n${body}`);

  describe('that are no request get an error in the common shape and the connection is closed [errors.shape.everywhere, never.shapeless-error]', () => {
    const chunked = 'Transfer-Encoding: chunked\r\n';
    const body = '{"title":"x"}';
    const cases: Readonly<Record<string, () => Promise<RawAnswer>>> = {
      'a length and chunks': () => post(`Content-Length: 13\r\n${chunked}`, `d\r\n${body}\r\n0\r\n\r\n`),
      'two lengths': () => post('Content-Length: 13\r\nContent-Length: 14\r\n', body),
      'the same length twice': () => post('Content-Length: 13\r\nContent-Length: 13\r\n', body),
      'a length with a sign': () => post('Content-Length: +13\r\n', body),
      'a length that is a list': () => post('Content-Length: 13, 13\r\n', body),
      'a length in hexadecimal': () => post('Content-Length: 0xd\r\n', body),
      'an unknown coding': () => post('Transfer-Encoding: xchunked\r\n', body),
      'a coding after chunks': () => post('Transfer-Encoding: chunked, identity\r\n', body),
      'chunks twice': () => post(`${chunked}${chunked}`, `d\r\n${body}\r\n0\r\n\r\n`),
      'a blank before the colon': () => post('Transfer-Encoding : chunked\r\n', body),
      'a folded header': () => post('X-A: 1\r\n 2\r\nContent-Length: 13\r\n', body),
      'a NUL in a header': () => post('X-A: a\u0000b\r\nContent-Length: 13\r\n', body),
      'a bare carriage return': () => post('X-A: a\rb\r\nContent-Length: 13\r\n', body),
      'a header without a colon': () => post('nonsense\r\n', ''),
      'no request line': () => send('nonsense\r\n\r\n'),
      'a method that is none': () => send('FR(B / HTTP/1.1\r\nHost: a\r\n\r\n'),
      'a method and no address': () => send('FROB\r\n\r\n'),
      'an unknown version': () => send('GET /open HTTP/3.7\r\nHost: a\r\n\r\n'),
      'bytes of TLS': () => send(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03])),
    };
    for (const [what, attempt] of Object.entries(cases)) {
      it(what, async () => {
        const before = demo.levers.echoes;
        const answer = isRefusal(await attempt(), 400, 'malformed_request');
        assert.equal(answer.headers.connection, 'close');
        assert.equal(demo.levers.echoes, before, 'it must reach no handler');
      });
    }

    it('and the reason of the parser, also for the chunks of a body [errors.400.parser-reason]', async () => {
      const message = async (answer: Promise<RawAnswer>): Promise<unknown> =>
        (JSON.parse((await answer).body) as ErrorBody).message;
      const of = (reason: string): string => `The request cannot be parsed: ${reason}.`;
      assert.equal(await message(post(chunked, 'zz\r\n')), of('Invalid character in chunk size'));
      assert.equal(await message(post('Content-Length: +13\r\n', body)), of('Invalid character in Content-Length'));
      assert.equal(await message(send(Buffer.from([0x16, 0x03, 0x01]))), of('Invalid method encountered'));
    });

    it('invalid chunks reach no handler', async () => {
      const before = demo.levers.echoes;
      for (const wrong of ['zz\r\n', '-1\r\n', '5;\u0000\r\n', '0x5\r\nabcde\r\n', 'fffffffffffffffff\r\n'])
        isRefusal(await post(chunked, wrong), 400, 'malformed_request');
      assert.equal(demo.levers.echoes, before);
    });
  });

  it('with too many bytes of headers are 431', async () => {
    const answer = await send(`GET /open HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(17 * 1024)}\r\n\r\n`);
    isRefusal(answer, 431, 'headers_too_large');
  });

  it('with too many headers are 431, and none is silently dropped', async () => {
    const many = Array.from({ length: LIMITS.headerCount }, (_, at) => `a${at}: 1\r\n`).join('');
    isRefusal(await send(`GET /open HTTP/1.1\r\nHost: a\r\n${many}\r\n`), 431, 'headers_too_large');
  });

  it('with two hosts, or none, are 400', async () => {
    isRefusal(await send('GET /open HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n'), 400, 'malformed_request');
    isRefusal(await send('GET /open HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n'), 400, 'malformed_request');
    isRefusal(await send('GET /open HTTP/1.1\r\n\r\n'), 400, 'malformed_request');
  });

  it('with a method unknown to the parser are 405, and the connection closes', async () => {
    const answer = isRefusal(await send('FROB /open HTTP/1.1\r\nHost: a\r\n\r\nGET /open'), 405, 'method_not_allowed');
    assert.equal(answer.headers['allow'], 'GET, HEAD, POST, PATCH, DELETE, OPTIONS');
    assert.equal(answer.headers['connection'], 'close');
  });

  it('with two content types are 415, because other software might use the other one', async () => {
    const [body, length] = ['{"title":"x"}', 'Content-Length: 13\r\n'];
    for (const other of ['text/plain', 'application/json'])
      isRefusal(await post(`content-TYPE: ${other}\r\n${length}`, body), 415, 'unsupported_media_type');
    assert.equal((await post(length, body)).status, 201);
  });

  it('with an absolute URL are served when its host equals Host, and are 400 otherwise [meta.target]', async () => {
    for (const target of ['http://a/open', 'HTTP://A:80/open', 'https://a:443/open?x=1'])
      assert.equal((await send(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`)).status, 200, target);
    const asterisk = await raw({ port, parts: ['OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'], until: 'head' });
    assert.deepEqual([asterisk.status, asterisk.headers['allow']], [204, 'GET, HEAD, POST, PATCH, DELETE, OPTIONS']);
    isRefusal(await send('GET * HTTP/1.1\r\nHost: a\r\n\r\n'), 400, 'malformed_request');
    for (const target of ['http://a@evil.test/open', 'http://a:81/open', 'ftp://a/open', 'http:///open'])
      isRefusal(await send(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`), 400, 'malformed_request');
    isRefusal(await send('GET http://evil.test/open HTTP/1.1\r\nHost: a\r\n\r\n'), 400, 'malformed_request');
    isRefusal(await send('GET open HTTP/1.1\r\nHost: a\r\n\r\n'), 400, 'malformed_request');
  });

  it('with dot segments are not normalized into another route', async () => {
    isRefusal(await send('GET /things/../open HTTP/1.1\r\nHost: a\r\n\r\n'), 404, 'not_found');
    isRefusal(await send('GET /./open HTTP/1.1\r\nHost: a\r\n\r\n'), 404, 'not_found');
  });

  it('with an unsupported Expect are 417', async () => {
    isRefusal(await send('GET /open HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n'), 417, 'expectation_failed');
  });

  it('that wait for 100-continue get it', async () => {
    const answer = await send(
      `POST /things/a HTTP/1.1\r\nHost: a\r\n${token()}Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 13\r\n\r\n`,
      '{"title":"x"}',
    );
    assert.match(answer.text, /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201 Created/);
  });

  it('of two requests in one packet get their replies in order', async () => {
    const answer = await raw({
      port,
      parts: ['GET /nope HTTP/1.1\r\nHost: a\r\n\r\nGET /open HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
      end: true,
      until: 'close',
    });
    assert.match(answer.text, /404 Not Found[^]*200 OK/);
  });

  describe('of a body that is too large', () => {
    const isTooLarge = (answer: RawAnswer): void => {
      isRefusal(answer, 413, 'payload_too_large');
      assert.equal(answer.headers.connection, 'close');
    };

    it('are refused by Content-Length, before they are sent', async () => {
      isTooLarge(await post(`Content-Length: ${50 * 1024 * 1024}\r\n`, ''));
    });

    it('are refused as soon as the chunks pass the limit', async () => {
      const chunk = `400\r\n${'x'.repeat(1024)}\r\n`;
      isTooLarge(await post('Transfer-Encoding: chunked\r\n', chunk.repeat(LIMIT_BYTES / 1024 + 1)));
    });

    it('are read for a bounded time, then the connection closes', async () => {
      const answer = await raw({
        port,
        parts: [
          `POST /things/a HTTP/1.1\r\nHost: a\r\n${token()}Content-Type: application/json\r\nContent-Length: 99999999\r\n\r\n`,
        ],
        until: 'close',
        drip: 'x'.repeat(1000),
      });
      isTooLarge(answer);
    });

    it('are refused in the same way by a route without a body', async () => {
      const head = 'POST /nope HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n';
      const answer = await raw({ port, parts: [head], until: 'close', drip: 'x'.repeat(1000) });
      isRefusal(answer, 404, 'not_found');
      assert.equal(answer.headers.connection, 'close');
    });
  });

  it('of a small unread body keep the connection open', async () => {
    const answer = await raw({
      port,
      parts: [
        'POST /nope HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello',
        'GET /open HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
      ],
      until: 'close',
    });
    assert.match(answer.text, /404 Not Found[^]*200 OK/);
  });

  it('that stop in the middle of a body do not affect other requests', async () => {
    const before = demo.levers.echoes;
    await raw({
      port,
      parts: [
        `POST /things/a HTTP/1.1\r\nHost: a\r\n${token()}Content-Type: application/json\r\nContent-Length: 13\r\n\r\n{"ti`,
      ],
      end: true,
      until: 'close',
    });
    isRefusal(await send('GET /nope HTTP/1.1\r\nHost: a\r\n\r\n'), 404, 'not_found');
    assert.equal(demo.levers.echoes, before);
  });

  it('of a client that disconnects while a handler works abort its signal', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /hold HTTP/1.1\r\nHost: a\r\n\r\n');
    const held = await eventually(() => demo.levers.held.at(-1));
    assert.equal(held.signal.aborted, false);
    socket.destroy();
    await eventually(() => held.signal.aborted);
    held.answer();
    await eventually(() => demo.lines().find(({ route, aborted }) => route === 'hold' && aborted === true));
  });

  it('of a client that resets its connection are not logged as a refused request', async () => {
    const count = demo.levers.held.length;
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /hold HTTP/1.1\r\nHost: a\r\n\r\n');
    const held = await eventually(() => demo.levers.held[count]);
    socket.resetAndDestroy();
    await eventually(() => held.signal.aborted);
    held.answer();
    assert.deepEqual(
      demo.lines().filter(({ reason }) => reason === 'ECONNRESET'),
      [],
    );
  });

  it('that are no request, after a request under way, are refused after its reply', async () => {
    const hold = 'GET /hold HTTP/1.1\r\nHost: a\r\n';
    const count = demo.levers.held.length;
    for (const [index, [bytes, statuses]] of Object.entries([
      [`${hold}\r\nnonsense\r\n\r\n`, ['200', '400']],
      [`${hold}\r\nnonsense\r\n\r\nmore\r\n\r\nGET /open HTTP/1.1\r\nHost: a\r\n\r\n`, ['200', '400']],
      // Bytes after the last request of a connection belong to no request.
      [`${hold}Connection: close\r\n\r\nGET /open HTTP/1.1\r\nHost: a\r\n\r\n`, ['200']],
    ] as const)) {
      const reply = raw({ port, parts: [bytes], until: 'close' });
      const held = await eventually(() => demo.levers.held[count + Number(index)]);
      held.answer();
      const { text } = await reply;
      assert.deepEqual(
        Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => status),
        statuses,
        text,
      );
      assert.equal(held.signal.aborted, false);
    }
  });

  describe('of an upgrade', () => {
    const upgrade = (path: string, more = ''): string =>
      `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${more}\r\n`;

    it('are passed to the service', async () => {
      const answer = await raw({ port, parts: [upgrade('/keep')], until: 'head' });
      assert.equal(answer.status, 101);
    });
    it('are refused in the common shape', async () => {
      const answer = isRefusal(await send(upgrade('/x')), 404, 'not_found');
      assert.equal(answer.headers['x-request-id'], 'request-1');
    });
    it('are checked by the same rules as requests', async () => {
      isRefusal(await send(upgrade('/keep', 'Api-Version: 2\r\n')), 400, 'unsupported_api_version');
      isRefusal(await send(upgrade('/keep', 'Host: b\r\n')), 400, 'malformed_request');
      isRefusal(await send(upgrade('/a%2fb')), 400, 'malformed_request');
    });
    it('close only their own connection on a bug', async () => {
      isRefusal(await send(upgrade('/throw')), 500, 'internal');
      assert.ok(demo.lines().some(({ level, msg }) => level === 'error' && msg === 'could not handle an upgrade'));
    });
  });
});
