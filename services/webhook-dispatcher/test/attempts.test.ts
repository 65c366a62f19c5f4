import { eventually } from '@wts/testkit';
import fc from 'fast-check';
import { ANY_CHARACTER } from '@wts/contracts/any-character';
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { dnsServer } from './dns-server.ts';
import { rawConsumer, type Behavior, type RawConsumer } from './raw-consumer.ts';
import { sharedAuthority, testSender, type TestSender } from './sender.ts';
import { WEB_URL } from './web-url.ts';

/** Short enough to wait for, long enough for a TLS handshake on a busy machine. */
const DEADLINE_MS = 700;
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

const openSender = async (deadlineMs?: number): Promise<TestSender> =>
  testSender({ authority: await sharedAuthority(), ...(deadlineMs === undefined ? {} : { deadlineMs }) });

const consumerThat = async (onRequest: Behavior): Promise<RawConsumer> =>
  rawConsumer({ tls: await (await sharedAuthority()).issue(), onRequest });

interface AttemptOptions {
  readonly deadlineMs?: number;
  /** The sender closes the connection, rather than keeping it for later attempts. */
  readonly isClosed?: boolean;
}

/** One attempt at a consumer that answers so. Whatever it is, no connection remains when the sender is closed. */
async function attemptAt(behavior: Behavior | string | Buffer, options: AttemptOptions = {}) {
  const { deadlineMs = DEADLINE_MS, isClosed = false } = options;
  await using consumer = await consumerThat(
    typeof behavior === 'function' ? behavior : (socket) => void socket.write(behavior),
  );
  const sender = await openSender(deadlineMs);
  const result = await sender.send(consumer.url);
  if (isClosed) await consumer.untilNoConnections();
  await sender[Symbol.asyncDispose]();
  await consumer.untilNoConnections();
  return { ...result, requests: consumer.requests.length };
}

/** Writes as fast as the other end takes it. */
function endlessly(socket: Socket, text: string, onWrite: (bytes: number) => void): void {
  const pump = (): void => {
    while (!socket.destroyed) {
      onWrite(text.length);
      if (!socket.write(text)) return;
    }
  };
  socket.on('drain', pump);
  pump();
}

async function bytewise(socket: Socket, text: string): Promise<void> {
  for (const byte of text) {
    socket.write(byte);
    await new Promise(setImmediate);
  }
}

describe('an attempt', () => {
  it('takes ten seconds at most, and 2xx within them is success [webhooks.attempt.success, webhooks.attempt.deadline]', async () => {
    const every300Ms = (socket: Socket, text: () => string): void => {
      const timer = setInterval(() => socket.write(text()), 300);
      socket.on('close', () => clearInterval(timer));
    };
    const answerAfter =
      (ms: number): Behavior =>
      (socket) =>
        void setTimeout(() => socket.write(OK), ms).unref();
    await using sender = await openSender();
    await using hanging = await consumerThat(() => undefined);
    await using noTls = await rawConsumer({ tls: null });
    await using bytewise = await consumerThat((socket) => every300Ms(socket, () => 'H'));
    await using linewise = await consumerThat((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      every300Ms(socket, () => 'x: y\r\n');
    });
    await using inTime = await consumerThat(answerAfter(5_000));
    await using late = await consumerThat(answerAfter(10_500));
    const consumers = [hanging, noTls, bytewise, linewise, inTime, late];
    const results = await Promise.all(consumers.map(({ url }) => sender.send(url)));
    const outcomes = results.map(({ error, statusCode }) => [error, statusCode]);
    assert.deepEqual(outcomes.slice(0, 2), [
      ['timeout', null],
      ['connect_timeout', null],
    ]);
    // Bytes that are no status line may be refused as such before the time is over.
    assert.ok(['timeout', 'invalid_response'].includes(String(outcomes[2]?.[0])));
    assert.deepEqual(outcomes.slice(3), [
      ['timeout', null],
      [null, 200],
      ['timeout', null],
    ]);
    for (const index of [0, 1, 3, 5]) {
      const durationMs = results[index]?.durationMs ?? 0;
      assert.ok(durationMs >= 9_900 && durationMs < 25_000, `${index}: ${durationMs} ms`);
    }
    await Promise.all([hanging, noTls, linewise, late].map((consumer) => consumer.untilNoConnections()));
  });

  it('is a success at the status line, when the body comes for ever byte by byte [webhooks.attempt.success]', async () => {
    const { error, statusCode, snippet, durationMs } = await attemptAt(
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
        const timer = setInterval(() => socket.write('.'), 20);
        socket.on('close', () => clearInterval(timer));
      },
      { isClosed: true },
    );
    assert.deepEqual([error, statusCode], [null, 200]);
    assert.match(snippet ?? '', /^\.+$/);
    assert.ok(durationMs < DEADLINE_MS);
  });

  it('reads a bounded part of a body without end, and closes its connection', async () => {
    const block = 'x'.repeat(65_536);
    let sent = 0;
    for (const [head, frame] of [
      ['transfer-encoding: chunked', (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`],
      ['content-length: 1000000000', (text: string) => text],
    ] as const) {
      sent = 0;
      const { error, snippet } = await attemptAt(
        (socket) => {
          socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`);
          endlessly(socket, frame(block), (bytes) => {
            sent += bytes;
          });
        },
        { isClosed: true },
      );
      assert.deepEqual([error, snippet], [null, 'x'.repeat(1_024)]);
      // The buffers of two sockets, and no more.
      assert.ok(sent < 64 * 1_048_576, `${sent} bytes`);
    }
  });

  it('asks for no encoding and decodes none', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    let request = '';
    await using consumer = await consumerThat((socket) => {
      request = consumer.requests.at(-1) ?? '';
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    });
    await using sender = await openSender();
    const { error, snippet } = await sender.send(consumer.url);
    assert.deepEqual([error, snippet], [null, null]);
    assert.doesNotMatch(request, /accept-encoding/i);
  });

  it('fails at a header of 40 kB and at 10,000 headers', async () => {
    for (const headers of [`x: ${'y'.repeat(40_000)}\r\n`, 'a: b\r\n'.repeat(10_000)]) {
      const { error, statusCode } = await attemptAt(`HTTP/1.1 200 OK\r\n${headers}\r\n`, { isClosed: true });
      assert.deepEqual([error, statusCode], ['invalid_response', null]);
    }
  });

  it('goes by the last status when others are announced before it', async () => {
    const interim = [
      'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 102 Processing\r\n\r\n',
      'HTTP/1.1 100 Continue\r\nx: y\r\n\r\n',
    ].join('');
    const atOnce = await attemptAt(`${interim}HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n`);
    assert.deepEqual([atOnce.error, atOnce.statusCode], ['http_status', 503]);
    const inPieces = await attemptAt((socket) => void bytewise(socket, `${interim}${OK}`), { deadlineMs: 5_000 });
    assert.deepEqual([inPieces.error, inPieces.statusCode, inPieces.snippet], [null, 200, 'ok']);
  });

  it('needs no body, no length and no HTTP/1.1', async () => {
    const answers: Readonly<Record<string, readonly [number, string | null]>> = {
      'HTTP/1.1 204 No Content\r\n\r\n': [204, null],
      'HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\n\r\n': [205, null],
      'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n': [304, null],
      'HTTP/1.0 200 OK\r\n\r\nold': [200, 'old'],
      'HTTP/1.1 201 Created\r\n\r\nto the end': [201, 'to the end'],
      'HTTP/1.1 299 \r\ncontent-length: 0\r\n\r\n': [299, null],
      'HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n': [200, null],
    };
    for (const [answer, [statusCode, snippet]] of Object.entries(answers)) {
      const result = await attemptAt((socket) => void socket.end(answer));
      assert.deepEqual([result.statusCode, result.snippet], [statusCode, snippet], answer);
      assert.equal(result.error, statusCode < 300 ? null : 'http_status');
    }
  });

  it('follows no redirect, wherever it leads [webhooks.attempt.no-redirects]', async () => {
    await using elsewhere = await consumerThat((socket) => void socket.end(OK));
    for (const [status, location] of [
      [301, elsewhere.url],
      [302, '/'],
      [303, 'http://169.254.169.254/'],
      [307, 'https://localhost:1/'],
      [308, elsewhere.url],
    ] as const) {
      const { error, statusCode, requests } = await attemptAt(
        `HTTP/1.1 ${status} Go\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`,
      );
      assert.deepEqual([error, statusCode, requests], ['http_status', status, 1]);
    }
    assert.equal(elsewhere.connectionCount(), 0);
  });

  it('fails when the connection ends before the status, and not when it ends after it', async () => {
    const end: Behavior = (socket) => void socket.end();
    const destroy: Behavior = (socket) => void socket.destroy();
    assert.equal((await attemptAt(end)).error, 'connection_reset');
    assert.equal((await attemptAt(destroy)).error, 'connection_reset');
    assert.notEqual((await attemptAt((socket) => void socket.end('HTTP/1.1 200 OK\r\nx-half: '))).error, null);
    await using resetting = await rawConsumer({ tls: null, onConnection: (socket) => socket.resetAndDestroy() });
    await using sender = await openSender();
    for (let attempt = 0; attempt < 5; attempt++)
      assert.equal((await sender.send(resetting.url)).error, 'connection_reset');
    const cut = await attemptAt((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf', () => socket.destroy());
    });
    assert.deepEqual([cut.error, cut.statusCode, cut.snippet], [null, 200, 'half']);
  });

  it('fails at what is no HTTP', async () => {
    for (const answer of [
      'garbage\r\n\r\n',
      '\0\0\0\0',
      'HTTP/9.9 200 OK\r\n\r\n',
      'HTTP/2.0 200 OK\r\ncontent-length: 0\r\n\r\n',
      '\r\n\r\nHTTP/2.0 200 OK\r\ncontent-length: 0\r\n\r\n',
      `HTTP/1.1 103 Early Hints\r\n\r\nHTTP/2.0 200 OK\r\ncontent-length: 0\r\n\r\n`,
      'HTTP/0.9 200 OK\r\ncontent-length: 0\r\n\r\n',
      'HTTP/1.1 10\r\n\r\n',
      `HTTP/1.1 1000 OK\r\n\r\n${OK}`,
      `HTTP/1.1 1030\r\n\r\n${OK}`,
      'HTTP/1.1 20 OK\r\n\r\n',
      'HTTP/1.1 999999 OK\r\n\r\n',
      'HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\nab',
      'HTTP/1.1 200 OK\r\nno colon\r\n\r\n',
      'HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n',
      '220 mail.example ESMTP\r\n',
    ]) {
      const { error, statusCode } = await attemptAt(answer, { isClosed: true });
      assert.deepEqual([error, statusCode], ['invalid_response', null], JSON.stringify(answer));
    }
  });

  it('fails when interim answers are all there is, or another protocol is switched to', async () => {
    const interim = await attemptAt((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 50);
      socket.on('close', () => clearInterval(timer));
    });
    assert.deepEqual([interim.error, interim.statusCode], ['timeout', null]);
    const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n';
    assert.equal((await attemptAt(upgrade, { isClosed: true })).error, 'invalid_response');
  });

  it('ends early at a flood of what is neither head nor body', async () => {
    const floods: Readonly<Record<string, readonly [string, string | null]>> = {
      'HTTP/1.1 103 Early Hints\r\n\r\n': ['', 'invalid_response'],
      '\r\n': ['', 'invalid_response'],
      OK: ['HTTP/1.1 200 ', 'invalid_response'],
      'x;': ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;', null],
    };
    for (const [piece, [beginning, expected]] of Object.entries(floods)) {
      let sent = 0;
      const { error } = await attemptAt(
        (socket) => {
          socket.write(beginning);
          endlessly(socket, piece.repeat(65_536 / piece.length), (bytes) => {
            sent += bytes;
          });
        },
        { isClosed: true, deadlineMs: 9_000 },
      );
      assert.equal(error, expected, piece);
      // The buffers of two sockets, and little more.
      assert.ok(sent < 64 * 1_048_576, `${piece}: ${sent} bytes`);
    }
  });

  it('is a success when the answer comes before the request was read', async () => {
    await using consumer = await rawConsumer({
      tls: await (await sharedAuthority()).issue(),
      onConnection: (socket) => socket.once('data', () => socket.end(OK)),
    });
    await using sender = await openSender();
    const { error, statusCode } = await sender.send(consumer.url, { body: JSON.stringify('x'.repeat(900_000)) });
    assert.deepEqual([error, statusCode], [null, 200]);
  });

  it('has its result, and no longer than it may take, when the process stands still for four seconds', async () => {
    await using consumer = await consumerThat((socket) => void socket.write(OK));
    await using hanging = await consumerThat(() => undefined);
    await using sender = await openSender(6_000);
    const results = Promise.all([sender.send(consumer.url), sender.send(hanging.url)]);
    await eventually(() => hanging.requests.length === 1);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4_000);
    const [answered, late] = await results;
    assert.deepEqual([answered.error, answered.statusCode], [null, 200]);
    assert.equal(late.error, 'timeout');
    assert.ok(late.durationMs >= 5_990 && late.durationMs < 9_500, `${late.durationMs} ms`);
  });

  it('ends with a result whatever the endpoint and the event are', async () => {
    await using dns = await dnsServer();
    await using sender = testSender({ authority: await sharedAuthority(), dnsServers: [dns.address] });
    const url = fc.oneof(
      WEB_URL,
      fc.string(),
      fc.ipV6().map((host) => `https://[${host}]:1/`),
    );
    const text = fc.string({ unit: ANY_CHARACTER });
    await fc.assert(
      fc.asyncProperty(url, text, text, async (to, eventId, body) => {
        const { error, statusCode } = await sender.send(to, { eventId, body });
        assert.ok(error !== null && statusCode === null);
      }),
      { numRuns: 15 },
    );
    assert.equal(sender.openConnections(), 0);
  });

  it('ends with a result whatever bytes the consumer sends', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'HTTP/1.1 ',
        '200 OK',
        '\r\n',
        '\n',
        'content-length: ',
        'transfer-encoding: chunked',
        '5',
        '-1',
        ': ',
      ),
      fc.string({ unit: ANY_CHARACTER, maxLength: 20 }),
    );
    const answers = fc.sample(fc.array(piece, { maxLength: 12 }), 30).map((pieces) => pieces.join(''));
    let next = 0;
    await using consumer = await consumerThat((socket) => void socket.end(answers[next++] ?? '', 'latin1'));
    await using sender = await openSender();
    const results = await Promise.all(answers.map(() => sender.send(consumer.url)));
    assert.ok(results.every(({ error, statusCode }) => error !== null || statusCode !== null));
    await consumer.untilNoConnections();
  });
});
