import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { SERVICE_LIMITS } from '../limits.ts';

/**
 * Node's parser makes requests of all bytes that a connection has sent, about 5 KB of memory for each, also while earlier ones
 * have no reply. Here the requests of a connection are parsed one at a time: the bytes after a request stay in the buffer of the
 * socket, which is not read while it is full, until the request got its reply. So the memory of a connection is bounded, replies
 * keep their order, an upgrade or invalid bytes after a request wait for its reply, and requests that were not parsed are dropped
 * when the client disconnects.
 *
 * A client may close its side after its requests and still read their replies. One that has disconnected looks the same until
 * bytes are sent to it, so the connection then ends after `halfClosedMs` without a byte.
 *
 * Bytes are split after each header section, which ends with a blank line, and after each body of a declared length. A chunked body may
 * contain blank lines, so there the parts have at least SERVICE_LIMITS.pipelinedBytesMin, and requests after its end may be parsed
 * together: as many as have their blank lines in so few bytes. Keeps limits.pipelining, limits.half-closed.
 */
export function serializePipelining(server: Server, halfClosedMs: number = SERVICE_LIMITS.halfClosedMs): void {
  // Node's types lack it: without it, Node closes its side at once.
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  server.on('connection', (socket) => new RequestQueue(socket, halfClosedMs));
}

/** For a server that only other services call: closes a connection with too many requests under way. */
export function boundPipelining(server: Server): void {
  const unanswered = new WeakMap<Socket, number>();
  server.on('request', ({ socket }, res) => {
    const count = (unanswered.get(socket) ?? 0) + 1;
    unanswered.set(socket, count);
    if (count > SERVICE_LIMITS.pipelinedRequestsMax) socket.destroy();
    res.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
  });
}

/** Reports each request to the queue of its connection. Each server of `serializePipelining` needs it. */
export class QueuedResponse extends ServerResponse {
  constructor(req: IncomingMessage, options?: object) {
    // Node passes options that its types do not have.
    super(...([req, options] as unknown as ConstructorParameters<typeof ServerResponse>));
    queues.get(req.socket)?.begin(req, this);
  }
}

const queues = new WeakMap<Socket, RequestQueue>();
const BLANK_LINE = '\r\n\r\n';
const TAIL_BYTES = BLANK_LINE.length - 1;

/** Fields that Node sets on a socket: the parser while it is HTTP, and whether Node has paused it until replies are read. */
interface Parsed {
  readonly parser?: object | null;
  readonly _paused?: boolean;
}

class RequestQueue {
  readonly #socket: Socket & Parsed;
  readonly #parse: (bytes: Buffer) => void;
  readonly #halfClosedMs: number;
  #unanswered = 0;
  #last: IncomingMessage | null = null;
  /** Of the declared body of the last request, what is not parsed yet; NaN where none is declared. */
  #bodyLeft = NaN;
  /** A header section in the part that is parsed is the end of it. */
  #isExact = true;
  /** The last bytes that were parsed: a blank line may have begun in them. */
  #tail = '';
  /** The client has closed its half. */
  #isEnded = false;

  constructor(socket: Socket, halfClosedMs: number) {
    this.#socket = socket;
    this.#halfClosedMs = halfClosedMs;
    this.#parse = socket.listeners('data')[0] as (bytes: Buffer) => void;
    queues.set(socket, this);
    socket.off('data', this.#parse);
    socket.on('data', this.#onData);
    // A stream with buffered bytes does not emit its end, so the end is observed in `push`.
    const push = socket.push.bind(socket);
    socket.push = (bytes: unknown, encoding?: BufferEncoding) => {
      const takesMore = push(bytes, encoding);
      if (bytes === null) {
        this.#isEnded = true;
        this.#boundSilence();
      }
      return takesMore;
    };
  }

  begin(req: IncomingMessage, res: ServerResponse): void {
    this.#last = req;
    this.#bodyLeft = this.#isExact ? Number(req.headers['content-length']) : NaN;
    this.#unanswered += 1;
    // Node sets its own timeout at the start of a request.
    this.#boundSilence();
    res.once('close', () => {
      this.#unanswered -= 1;
      if (this.#socket.readableLength > 0) turns.add(this);
    });
  }

  /** Called when it is the turn of this connection. */
  proceed(): void {
    if (this.#mayParse()) this.#socket.resume();
  }

  readonly #onData = (bytes: Buffer): void => {
    const socket = this.#socket;
    // The last reply is sent. Bytes after its request are not parsed, because they would be taken for another request.
    if (socket.writableEnded) return;
    const isTaken = this.#mayParse();
    const end = isTaken ? this.#splitAt(bytes) : 0;
    if (end < bytes.length) {
      // Put back before parsing, because an upgrade puts its own rest in front of these bytes.
      socket.pause();
      socket.unshift(bytes.subarray(end));
    }
    if (!isTaken) return;
    this.#tail = (this.#tail + bytes.toString('latin1', Math.max(0, end - TAIL_BYTES), end)).slice(-TAIL_BYTES);
    this.#parse(bytes.subarray(0, end));
    if (!socket.parser) socket.off('data', this.#onData);
    else if (end < bytes.length && this.#mayParse()) turns.add(this);
  };

  #boundSilence(): void {
    if (this.#isEnded && this.#unanswered > 0) this.#socket.setTimeout(this.#halfClosedMs);
  }

  /** True without a request under way, and while the body of the only one is incomplete and has room in its buffer. */
  #mayParse(): boolean {
    if (this.#socket.destroyed || this.#socket._paused === true) return false;
    if (this.#unanswered === 0 || this.#socket.writableEnded) return true;
    const last = this.#last;
    if (this.#unanswered > 1 || last === null || last.complete) return false;
    return last.readableLength < last.readableHighWaterMark;
  }

  #splitAt(bytes: Buffer): number {
    const isBody = this.#last?.complete === false;
    if (isBody && this.#bodyLeft > 0) {
      const end = Math.min(bytes.length, this.#bodyLeft);
      this.#bodyLeft -= end;
      return end;
    }
    this.#isExact = !isBody;
    if (isBody) return endOfBlankLine(bytes, SERVICE_LIMITS.pipelinedBytesMin);
    // Otherwise the part would reach into the body after a blank line that came in two pieces.
    const found = (this.#tail + bytes.toString('latin1', 0, TAIL_BYTES)).indexOf(BLANK_LINE);
    return found === -1 ? endOfBlankLine(bytes, 0) : found + BLANK_LINE.length - this.#tail.length;
  }
}

function endOfBlankLine(bytes: Buffer, from: number): number {
  const found = bytes.indexOf(BLANK_LINE, from, 'latin1');
  return found === -1 ? bytes.length : found + BLANK_LINE.length;
}

/**
 * The connections of the process with bytes to parse. SERVICE_LIMITS.pipelinedTurns of them proceed in each turn of the event loop, in
 * order, so that other work runs in between.
 */
class Turns {
  readonly #waiting = new Set<RequestQueue>();

  add(queue: RequestQueue): void {
    this.#waiting.add(queue);
    if (this.#waiting.size === 1) setImmediate(this.#take);
  }

  readonly #take = (): void => {
    let taken = 0;
    for (const queue of this.#waiting) {
      if (taken === SERVICE_LIMITS.pipelinedTurns) break;
      taken += 1;
      this.#waiting.delete(queue);
      queue.proceed();
    }
    if (this.#waiting.size > 0) setImmediate(this.#take);
  };
}

const turns = new Turns();
