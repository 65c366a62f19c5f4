import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An HTTP/1.1 answer as it was received. */
export interface RawReply {
  readonly status: number;
  /** Lower-case names; all values of each. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: string;
}

/** The body of an answer in the common error shape. */
export interface ErrorReply {
  readonly error: string;
  readonly ok: false;
  readonly statusCode: number;
  readonly code?: string;
  readonly message?: string;
  readonly requestId?: string;
  readonly retryAfterSeconds?: number;
}

const SHAPE = new Set(['error', 'ok', 'statusCode', 'code', 'message', 'requestId', 'retryAfterSeconds']);

/** Asserts that an answer is an error in the common shape, from the status line to the last property. */
export function errorOf(reply: RawReply, status: number, code?: string): ErrorReply {
  assert.equal(reply.status, status, reply.body);
  assert.deepEqual(reply.headers['api-version'], ['1']);
  assert.match(reply.headers['content-type']?.[0] ?? '', /^application\/json/);
  const body = JSON.parse(reply.body) as ErrorReply;
  assert.equal(body.ok, false);
  assert.equal(body.statusCode, status);
  assert.equal(typeof body.error, 'string');
  for (const name of Object.keys(body)) assert.ok(SHAPE.has(name), `unknown property ${name}`);
  assert.deepEqual(reply.headers['x-request-id'], [body.requestId]);
  if (code !== undefined) assert.equal(body.code, code, reply.body);
  return body;
}

const DEADLINE_MS = 60_000;

/** A client that sends exactly the given bytes and reads answers one by one. */
export class RawClient {
  readonly socket: Socket;
  #parts: Buffer[] = [];
  #length = 0;
  #isEnded = false;
  #wake: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#parts.push(chunk);
      this.#length += chunk.length;
      this.#wake();
    });
    socket.on('end', () => this.#wake());
    socket.on('close', () => {
      this.#isEnded = true;
      this.#wake();
    });
    // Some tests expect a reset; `close` follows it.
    socket.on('error', () => undefined);
  }

  /** `from` is an address of this machine, such as another one of 127.0.0.0/8. */
  static async open(port: number, from?: string): Promise<RawClient> {
    const here = from === undefined ? {} : { localAddress: from };
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, ...here });
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  send(bytes: string | Buffer): this {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return this;
  }

  /** The next answer, chunked or with a length; `isHead` when it answers HEAD. */
  async reply(isHead = false): Promise<RawReply> {
    const end = await this.#until(() => this.#received.indexOf('\r\n\r\n') + 1 || null, 'an answer');
    const head = this.#received.subarray(0, end - 1).toString('latin1');
    this.#received = this.#received.subarray(end + 3);
    const [first = '', ...lines] = head.split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1]);
    const headers: Record<string, string[]> = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      (headers[line.slice(0, colon).toLowerCase()] ??= []).push(line.slice(colon + 1).trim());
    }
    const isBodiless = isHead || status < 200 || status === 204 || status === 304;
    const body = isBodiless ? '' : await this.#body(headers);
    return { status, headers, body };
  }

  async #body(headers: Record<string, string[]>): Promise<string> {
    if (headers['transfer-encoding']?.[0] === 'chunked') {
      const parts: string[] = [];
      for (;;) {
        const line = await this.#until(() => this.#received.indexOf('\r\n') + 1 || null, 'a chunk');
        const size = Number.parseInt(this.#received.subarray(0, line - 1).toString('latin1'), 16);
        this.#received = this.#received.subarray(line + 1);
        await this.#until(() => (this.#length >= size + 2 ? true : null), 'a chunk');
        parts.push(this.#received.subarray(0, size).toString('utf8'));
        this.#received = this.#received.subarray(size + 2);
        if (size === 0) return parts.join('');
      }
    }
    const size = Number(headers['content-length']?.[0] ?? 0);
    await this.#until(() => (this.#length >= size ? true : null), 'a body');
    const body = this.#received.subarray(0, size).toString('utf8');
    this.#received = this.#received.subarray(size);
    return body;
  }

  /** How many received bytes were not read as an answer. */
  get received(): number {
    return this.#length;
  }

  /** The received bytes that were not read as an answer. */
  get rest(): Buffer {
    return this.#received;
  }

  /** Waits for `count` bytes after what was read, and reads them. */
  async bytes(count: number): Promise<Buffer> {
    await this.#until(() => (this.#length >= count ? true : null), `${count} bytes`);
    const taken = this.#received.subarray(0, count);
    this.#received = this.#received.subarray(count);
    return taken;
  }

  async closed(): Promise<void> {
    if (!this.#isEnded) await once(this.socket, 'close', { signal: AbortSignal.timeout(DEADLINE_MS) });
  }

  async ended(): Promise<void> {
    if (!this.socket.readableEnded) await once(this.socket, 'end', { signal: AbortSignal.timeout(DEADLINE_MS) });
  }

  destroy(): void {
    this.socket.destroy();
  }

  get #received(): Buffer {
    if (this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts)];
    return this.#parts[0] ?? Buffer.alloc(0);
  }

  set #received(rest: Buffer) {
    this.#parts = [rest];
    this.#length = rest.length;
  }

  async #until<T>(look: () => T | null, what: string): Promise<T> {
    const deadline = performance.now() + DEADLINE_MS;
    for (;;) {
      const found = look();
      if (found !== null) return found;
      const held = (): string => JSON.stringify(this.#received.toString('latin1').slice(0, 500));
      if (this.#isEnded || this.socket.readableEnded) throw new Error(`the connection ended before ${what}: ${held()}`);
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) throw new Error(`waited in vain for ${what}: ${held()}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}

/** Sends one request on a new connection and reads its answer. */
export async function exchange(port: number, bytes: string | Buffer): Promise<RawReply> {
  const client = await RawClient.open(port);
  try {
    return await client.send(bytes).reply();
  } finally {
    client.destroy();
  }
}

/** The text of a request; lines without the blank one at the end. */
export function request(line: string, headers: readonly string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: api.test', ...headers, '', body].join('\r\n');
}
