import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@wts/testkit';
import { closeNow, createHttpServer, listen, onUpgrade, readBytes } from '../src/http/index.ts';
import { SERVICE_LIMITS } from '../src/limits.ts';

const STARTED = 'http.server.request.start';
const FRAMES = 'frames\r\n\r\n'.repeat(9);
const HALF_CLOSED_MS = 300;
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

interface Begun {
  readonly server: Server;
  readonly response: ServerResponse;
}

/** A server whose answers to `/held` wait, with what it holds of requests at a time. */
class Stage implements AsyncDisposable {
  readonly #server: Server;
  port = 0;
  held: ServerResponse[] = [];
  seen: string[] = [];
  /** What came behind an upgrade. */
  readonly frames: string[] = [];
  /** Requests that Node made of what came, and the most that were unanswered at a time. */
  begun = 0;
  unansweredMax = 0;
  #unanswered = 0;
  /** Bytes that Node read of the last connection. */
  bytesRead = (): number => 0;
  /** Passes before a request is read, and before its reply. */
  readonly #moment: () => Promise<void>;

  constructor(callers: 'anyone' | 'services', moment = async () => {}) {
    this.#moment = moment;
    const timeouts = { halfClosedMs: HALF_CLOSED_MS };
    this.#server = createHttpServer((req, res) => void this.#answer(req, res), { callers, timeouts });
    onUpgrade(this.#server, (_req, socket, head) => {
      this.seen.push('upgrade');
      socket.on('data', (bytes: Buffer) => this.frames.push(bytes.toString()));
      this.frames.push(head.toString());
      socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n');
    });
    this.#server.on('connection', (socket) => (this.bytesRead = () => socket.bytesRead));
    subscribe(STARTED, this.#count);
  }

  static async open(callers: 'anyone' | 'services' = 'anyone', moment?: () => Promise<void>): Promise<Stage> {
    const stage = new Stage(callers, moment);
    stage.port = await listen(stage.#server, '127.0.0.1', 0);
    return stage;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    unsubscribe(STARTED, this.#count);
    await closeNow(this.#server);
  }

  readonly #count = (message: unknown): void => {
    const { server, response } = message as Begun;
    if (server !== this.#server) return;
    this.begun += 1;
    this.#unanswered += 1;
    this.unansweredMax = Math.max(this.unansweredMax, this.#unanswered);
    response.once('close', () => (this.#unanswered -= 1));
  };

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    this.seen.push(req.url ?? '');
    if (req.url === '/held') {
      this.held.push(res);
      return;
    }
    await this.#moment();
    const body = req.method === 'POST' ? (await readBytes(req, 1024 * 1024)).length : 0;
    await this.#moment();
    res.setHeader('content-length', 0).setHeader('x-answers', `${req.url} ${body}`).end();
  }
}

interface Caller {
  readonly socket: Socket;
  readonly answers: () => string[];
  readonly text: () => string;
}

/** A connection, with the addresses its answers name, in the order they came. */
async function open(port: number): Promise<Caller> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1');
  socket.on('data', (part: string) => (text += part));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const answers = (): string[] => [...text.matchAll(/x-answers: (.*)\r\n/gi)].map(([, one]) => one as string);
  return { socket, answers, text: () => text };
}

/** Fails at once when the server closes the connection, whose last bytes say why. */
async function untilAnswers({ socket, answers, text }: Caller, count: number): Promise<void> {
  const closed = once(socket, 'close').then(() => {
    throw new Error(`closed after ${answers().length} of ${count} answers: ${text().slice(-500)}`);
  });
  await Promise.race([eventually(() => answers().length === count || undefined), closed]);
}

/** Requests of all kinds, each with what its answer names. */
const REQUESTS: readonly (readonly [text: string, answer: string])[] = [
  [get('/1'), '/1 0'],
  [`POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\n\r\n\r\n\r\n\r\n`, '/2 8'],
  [`HEAD /3 HTTP/1.1\r\nHost: a\r\n\r\n`, '/3 0'],
  [`POST /4 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n\r\n\r\n\r\n0\r\n\r\n`, '/4 4'],
  [`POST /5 HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab`, '/5 2'],
  [`POST /6 HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n${'\r\n\r\n'.repeat(75_000)}`, '/6 300000'],
  [`POST /7 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n`, '/7 3'],
];

/** Numbers from 0 to 1, the same ones of each seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Waits for nothing, for a part of a turn of the event loop, for the next turn, or for some milliseconds. */
async function anyMoment(random: () => number): Promise<void> {
  const at = random();
  if (at < 0.3) return;
  if (at < 0.6) await new Promise<void>((resolve) => process.nextTick(resolve));
  else if (at < 0.9) await new Promise<void>((resolve) => setImmediate(resolve));
  else await delay(random() * 4);
}

describe('pipelined requests', () => {
  it('are parsed one at a time: 200 000 in one write are never more than a few requests in memory [limits.pipelining, never.unbounded]', async () => {
    await using stage = await Stage.open();
    const flood = await open(stage.port);
    flood.socket.write(get('/held') + get('/next').repeat(200_000));
    await eventually(() => stage.held.length === 1 || undefined);
    const other = await open(stage.port);
    for (let count = 1; count <= 50; count += 1) {
      other.socket.write(get(`/health`));
      await eventually(() => other.answers().length === count || undefined);
    }
    assert.equal(stage.begun, 51, 'nothing behind the first was read');

    stage.held[0]?.setHeader('content-length', 0).end();
    for (let count = 51; count <= 100; count += 1) {
      other.socket.write(get(`/health`));
      await eventually(() => other.answers().length === count || undefined);
    }
    assert.ok(stage.unansweredMax <= 4, `${stage.unansweredMax} requests at a time`);
    // Those who get their answers within a turn of the event loop leave room for others in between.
    assert.ok(stage.begun < 100_000);
    flood.socket.destroy();
    await eventually(async () => {
      const before = stage.begun;
      await new Promise((resolve) => setTimeout(resolve, 20));
      return before === stage.begun || undefined;
    });
    other.socket.destroy();
  });

  it('all get their replies in order, for all kinds of requests and all splits of the bytes', async () => {
    await using stage = await Stage.open();
    const many = Array.from({ length: 300 }, () => [get('/8'), '/8 0'] as const);
    const all = [...REQUESTS, ...many, [get('/9'), '/9 0'] as const];
    const text = all.map(([request]) => request).join('');
    const expected = all.map(([, answer]) => answer);
    for (const pieceBytes of [text.length, 997, 65_536]) {
      const client = await open(stage.port);
      for (let at = 0; at < text.length; at += pieceBytes) client.socket.write(text.slice(at, at + pieceBytes));
      await untilAnswers(client, expected.length);
      assert.deepEqual(client.answers(), expected);
      client.socket.destroy();
    }
  });

  it('all get their replies in order, whenever bytes come and replies are ready', async () => {
    const converse = async (stage: Stage, random: () => number): Promise<void> => {
      const asked = Array.from({ length: 40 }, () => REQUESTS[Math.floor(random() ** 3 * REQUESTS.length)]);
      const text = asked.map((one) => one?.[0]).join('');
      const client = await open(stage.port);
      for (let at = 0; at < text.length;) {
        const bytes = 1 + Math.floor(random() ** 5 * 100_000);
        client.socket.write(text.slice(at, at + bytes));
        at += bytes;
        await anyMoment(random);
      }
      await untilAnswers(client, asked.length);
      const expected = asked.map((one) => one?.[1]);
      assert.deepEqual(client.answers(), expected);
      client.socket.destroy();
    };
    for (let seed = 1; seed <= 4; seed += 1) {
      const random = randomOf(seed);
      await using stage = await Stage.open('anyone', () => anyMoment(random));
      await Promise.all(Array.from({ length: 5 }, () => converse(stage, random)));
    }
  });

  it('are not read after one with Connection: close', async () => {
    await using stage = await Stage.open();
    const client = await open(stage.port);
    client.socket.write(`GET /1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n${get('/2').repeat(100)}`);
    await once(client.socket, 'close');
    assert.deepEqual([client.answers(), stage.seen], [['/1 0'], ['/1']]);
  });

  it('get their replies before an upgrade or invalid bytes after them', async () => {
    await using stage = await Stage.open();
    const upgrade = 'GET /up HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    for (const behind of [upgrade + FRAMES, 'NONSENSE\r\n\r\n']) {
      stage.held = [];
      stage.seen = [];
      const client = await open(stage.port);
      client.socket.write(get('/held') + behind);
      await eventually(() => stage.held.length === 1 || undefined);
      assert.deepEqual(stage.seen, ['/held']);
      assert.equal(client.text(), '');
      stage.held[0]?.setHeader('content-length', 0).end();
      await eventually(() => client.socket.destroyed || client.socket.readableEnded || undefined);
      assert.match(client.text(), /^HTTP\/1\.1 200 [^]*HTTP\/1\.1 (101|400) /);
      client.socket.destroy();
    }
    assert.equal(stage.frames.join(''), FRAMES);
  });

  it('get their replies in any number when they follow a body so closely that they come together with it [limits.pipelining]', async () => {
    const shortest = 'GET / HTTP/1.1\r\n\r\n';
    const atOnce = SERVICE_LIMITS.pipelinedBytesMin / shortest.length;
    for (const [pieces, body, unansweredMax] of [
      [['Content-Length: 4\r\n\r\n'], 'body', 4],
      // Its blank line comes in two pieces, the second one with most of the body.
      [['Content-Length: 40000\r\n\r', `\n${'b'.repeat(30_000)}`], 'b'.repeat(10_000), 4],
      [['Transfer-Encoding: chunked\r\n\r\n'], '4\r\nbody\r\n0\r\n\r\n', atOnce + 3],
    ] as const) {
      await using stage = await Stage.open();
      const client = await open(stage.port);
      client.socket.write('POST /1 HTTP/1.1\r\nHost: a\r\n');
      for (const piece of pieces) {
        client.socket.write(piece);
        await eventually(() => stage.bytesRead() === client.socket.bytesWritten);
      }
      await eventually(() => stage.seen.length === 1);
      client.socket.write(body + shortest.repeat(2000));
      await untilAnswers(client, 2001);
      assert.ok(stage.unansweredMax <= unansweredMax, `${stage.unansweredMax} requests at a time`);
      client.socket.destroy();
    }
  });

  it('get their replies when the client has closed its side, which then ends too [limits.half-closed]', async () => {
    await using stage = await Stage.open();
    for (const behind of ['', 'G', get('/2').repeat(20)]) {
      stage.held = [];
      const client = await open(stage.port);
      client.socket.end(get('/1') + get('/held') + behind);
      await eventually(() => stage.held.length === 1 || undefined);
      const [response] = stage.held;
      response?.setHeader('content-length', 400);
      for (let count = 1; count <= 4; count += 1) {
        // Longer together than the server waits for each part.
        await delay(HALF_CLOSED_MS / 3);
        response?.write('held'.repeat(25));
      }
      response?.end();
      await eventually(() => client.socket.readableEnded || undefined);
      assert.equal(client.text().match(/held/g)?.length, 100);
      assert.equal(client.answers().length, behind === '' || behind === 'G' ? 1 : 21);
      assert.equal(/HTTP\/1\.1 400 /.test(client.text()), behind === 'G');
    }
  });

  it('do not hide that their sender has disconnected: its silent requests are aborted [limits.half-closed]', async () => {
    await using stage = await Stage.open();
    for (const behind of ['', 'G', get('/behind'), `${get('/held')}G`]) {
      stage.held = [];
      const client = await open(stage.port);
      client.socket.write(get('/held') + behind);
      await eventually(() => stage.held.length === 1 || undefined);
      const [response] = stage.held;
      client.socket.end();
      await eventually(() => response?.closed === true);
      assert.equal(response?.writableFinished, false);
    }
  });

  it('whose sender does not read the replies are read up to a bound', async () => {
    await using stage = await Stage.open();
    const client = await open(stage.port);
    client.socket.pause();
    client.socket.write(get(`/${'x'.repeat(500)}`).repeat(40_000));
    // What the kernel holds of answers is bounded; then the sender has to read.
    await eventually(async () => {
      const before = stage.begun;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return before === stage.begun || undefined;
    });
    assert.ok(stage.begun < 40_000, `${stage.begun}`);
    client.socket.resume();
    await eventually(() => client.answers().length > stage.begun - 10 || undefined);
    client.socket.destroy();
  });

  it('to a server for services close the connection above a few [limits.pipelining]', async () => {
    await using stage = await Stage.open('services');
    const client = await open(stage.port);
    const closed = new Promise((resolve) => client.socket.once('close', resolve));
    client.socket.write(get('/held').repeat(200_000));
    await closed;
    // What one read of a connection holds, and no more of what came.
    assert.ok(stage.begun < 5_000, `${stage.begun}`);
    const honest = await open(stage.port);
    honest.socket.write(get('/1') + get('/2'));
    await eventually(() => honest.answers().length === 2 || undefined);
    honest.socket.destroy();
  });
});
