import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { eventually, testDatabase, type TestDatabase } from '@wts/testkit';
import { Pool } from 'pg';
import { openTestReplica, type TestReplica } from '../../test/replica.ts';

/** A client that sends arbitrary bytes, and stores the frames it receives. */
class RawClient {
  readonly #socket: ReturnType<typeof connect>;
  #bytes = Buffer.alloc(0);
  isEnded = false;

  private constructor(port: number, token: string) {
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.on('data', (part: Buffer) => (this.#bytes = Buffer.concat([this.#bytes, part])));
    this.#socket.on('close', () => (this.isEnded = true));
    this.#socket.on('error', () => {});
    this.#socket.write(
      `GET /sync/ws?token=${token} HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
    );
  }

  static async open(replica: TestReplica, token: string): Promise<RawClient> {
    const client = new RawClient(Number(new URL(replica.baseUrl).port), token);
    await eventually(() => client.#bytes.includes('\r\n\r\n'));
    client.answer = client.#bytes.toString('latin1');
    client.#bytes = client.#bytes.subarray(client.#bytes.indexOf('\r\n\r\n') + 4);
    return client;
  }

  answer = '';

  send(firstByte: number, payload: Buffer, { masked = true } = {}): void {
    const length =
      payload.length < 126
        ? [payload.length]
        : payload.length < 65_536
          ? [126, payload.length >> 8, payload.length & 255]
          : [];
    if (length.length === 0) throw new Error('not needed here');
    length[0]! |= masked ? 0x80 : 0;
    const mask = masked ? Buffer.alloc(4) : Buffer.alloc(0);
    this.#socket.write(Buffer.concat([Buffer.from([firstByte, ...length]), mask, payload]));
  }

  /** Sends a frame of this size, one byte at a time. */
  drip(firstByte: number, length: number): void {
    this.#socket.setNoDelay(true);
    this.#socket.write(Buffer.from([firstByte, 126 | 0x80, length >> 8, length & 255, 0, 0, 0, 0]));
    const next = (left: number): void => {
      if (left === 0 || this.isEnded) return;
      this.#socket.write(' ', () => setImmediate(next, left - 1));
    };
    next(length);
  }

  /** The frames received so far: opcode and payload. */
  get frames(): { opcode: number; payload: Buffer }[] {
    const frames: { opcode: number; payload: Buffer }[] = [];
    let rest = this.#bytes;
    while (rest.length >= 2) {
      const short = rest[1]! & 0x7f;
      const [length, start] = short < 126 ? [short, 2] : [rest.readUInt16BE(2), 4];
      if (rest.length < start + length) break;
      frames.push({ opcode: rest[0]! & 0x0f, payload: rest.subarray(start, start + length) });
      rest = rest.subarray(start + length);
    }
    return frames;
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

const [TEXT, BINARY, CLOSE_FRAME, PING, PONG] = [0x1, 0x2, 0x8, 0x9, 0xa] as const;
const FINAL = 0x80;

describe('a client that violates the WebSocket protocol', function () {
  let database: TestDatabase;
  let pool: Pool;
  let replica: TestReplica;
  let client: RawClient;
  const user: string = randomUUID();

  before(async () => {
    database = await testDatabase('protocol', { migrated: true });
    pool = new Pool({ connectionString: database.urlOf('wts_sync') });
    replica = await openTestReplica({ pool, limits: { tickMs: 50 } });
  });
  after(async () => {
    await replica[Symbol.asyncDispose]();
    await pool.end();
    await database.drop();
  });
  beforeEach(async () => (client = await RawClient.open(replica, user)));
  afterEach(async () => {
    client.destroy();
    await eventually(() => replica.socketServer.size === 0);
  });

  const cases: readonly (readonly [string, () => void, number])[] = [
    ['by a frame without a mask', () => client.send(FINAL | TEXT, Buffer.from('{}'), { masked: false }), 1002],
    ['by a reserved bit', () => client.send(FINAL | 0x40 | TEXT, Buffer.from('{}')), 1002],
    ['by an unknown opcode', () => client.send(FINAL | 0x3, Buffer.from('{}')), 1002],
    ['by a continuation of nothing', () => client.send(FINAL, Buffer.from('{}')), 1002],
    ['by a fragmented ping', () => client.send(PING, Buffer.from('x')), 1002],
    ['by a ping of 126 bytes', () => client.send(FINAL | PING, Buffer.alloc(126)), 1002],
    ['by text that is not UTF-8', () => client.send(FINAL | TEXT, Buffer.from([0xc3, 0x28])), 1007],
    [
      'by a message in too many fragments [never.unbounded]',
      () => {
        client.send(TEXT, Buffer.from('{'));
        for (let count = 0; count < 300; count += 1) client.send(0, Buffer.from(' '));
      },
      1008,
    ],
    [
      'by a storm of pings [never.unbounded]',
      () => {
        for (let count = 0; count < 600; count += 1) client.send(FINAL | PING, Buffer.alloc(0));
      },
      1008,
    ],
    [
      'by a storm of pongs [never.unbounded]',
      () => {
        for (let count = 0; count < 600; count += 1) client.send(FINAL | PONG, Buffer.alloc(0));
      },
      1008,
    ],
    ...[1005, 1006, 999].map((code) => {
      const payload = Buffer.from([code >> 8, code & 255]);
      return [`by a close with ${code}`, () => client.send(FINAL | CLOSE_FRAME, payload), 1002] as const;
    }),
    ['by a binary frame', () => client.send(FINAL | BINARY, Buffer.from('{}')), 1003],
  ];
  for (const [what, act, status] of cases) {
    it(`${what} gets the reason and is closed with ${status}`, async () => {
      act();
      await eventually(() => client.frames.some(({ opcode }) => opcode === CLOSE_FRAME));
      const [error, close] = client.frames.filter(({ opcode }) => opcode !== PONG);
      assert.equal(error?.opcode, TEXT);
      const { type, code } = JSON.parse(error.payload.toString()) as { type: string; code: string };
      assert.equal(type, 'error');
      assert.notEqual(code, 'SUBSCRIBE_TIMEOUT');
      assert.equal(close?.payload.readUInt16BE(0), status);
    });
  }

  it('by a frame sent byte by byte gets the reason and is closed long before the frame is complete [never.unbounded]', async () => {
    client.drip(FINAL | TEXT, 60_000);
    await eventually(() => client.frames.some(({ opcode }) => opcode === CLOSE_FRAME));
    assert.match(client.frames[0]?.payload.toString() ?? '', /too many fragments/);
  });

  it('is disconnected when it does not answer the close frame', async () => {
    client.send(FINAL | BINARY, Buffer.from('{}'));
    await eventually(() => client.isEnded);
  });

  it('is not one that only fragments a message, pings, or closes', async () => {
    const text = Buffer.from(JSON.stringify({ type: 'subscribe', afterSyncId: '0', token: user }));
    client.send(TEXT, text.subarray(0, 10));
    client.send(FINAL | PING, Buffer.from('are you there'));
    client.send(FINAL, text.subarray(10));
    await eventually(() => client.frames.length >= 2);
    const pong = client.frames.find(({ opcode }) => opcode === PONG);
    assert.equal(pong?.payload.toString(), 'are you there');
    assert.ok(client.frames.some(({ payload }) => payload.includes('subscribed')));
    const goodbye = Buffer.from([0x03, 0xe8]);
    client.send(FINAL | CLOSE_FRAME, goodbye);
    await eventually(() =>
      client.frames.some(({ opcode, payload }) => opcode === CLOSE_FRAME && payload.equals(goodbye)),
    );
  });

  for (const status of [1002, 1012]) {
    it(`gets only a close frame with its own code when it closes with ${status}`, async () => {
      const code = Buffer.alloc(2);
      code.writeUInt16BE(status);
      client.send(FINAL | CLOSE_FRAME, code);
      await eventually(() => client.frames.length > 0);
      assert.deepEqual(client.frames, [{ opcode: CLOSE_FRAME, payload: code }]);
    });
  }

  it('gets no compression, and the API version, in the reply to its upgrade', () => {
    assert.match(client.answer, /^HTTP\/1\.1 101 /);
    assert.match(client.answer, /\r\nApi-Version: 1\r\n/);
    assert.doesNotMatch(client.answer, /permessage-deflate/i);
  });
});
