import { ServerResponse } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '@wts/contracts';

/**
 * Node's parser turns everything that a connection has sent into requests at once, about 5 KB of memory for each, however
 * many were answered. Here a connection gives its requests out one at a time: the bytes behind a request stay in the buffer
 * of the socket, which is not read while it is full, until the request is answered. So what a connection holds is bounded
 * whatever arrives in one write, answers keep their order, an upgrade or broken bytes behind a request wait for its answer,
 * and a client that has left takes everything with it that was not begun.
 *
 * Bytes are cut behind each end of a header section (a blank line). In a body a blank line means nothing, so there the cuts
 * are at least LIMITS.pipelinedBytesMin apart, and a few requests may be taken together behind the end of a body; above
 * LIMITS.pipelinedRequestsMax of them the connection is closed. Keeps limits.pipelining.
 */
export function takeInTurn(server: Server): void {
  server.on('connection', (socket) => new RequestLine(socket));
}

/** For a server that only other services reach: a connection that sends more than it waits for is closed. */
export function boundPipelining(server: Server): void {
  const unanswered = new WeakMap<Socket, number>();
  server.on('request', ({ socket }, res) => {
    const count = (unanswered.get(socket) ?? 0) + 1;
    unanswered.set(socket, count);
    if (count > LIMITS.pipelinedRequestsMax) socket.destroy();
    res.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
  });
}

/** Reports each request to the line of its connection; everything else is Node's. Each server of `takeInTurn` needs it. */
export class LinedResponse extends ServerResponse {
  constructor(req: IncomingMessage, options?: object) {
    // Node passes options that its types do not have.
    super(...([req, options] as unknown as ConstructorParameters<typeof ServerResponse>));
    lines.get(req.socket)?.begin(req, this);
  }
}

const lines = new WeakMap<Socket, RequestLine>();
const BLANK_LINE = '\r\n\r\n';

/** What Node keeps on a socket: the parser while it speaks HTTP, and whether Node itself waits until answers are read. */
interface Parsed {
  readonly parser?: object | null;
  readonly _paused?: boolean;
}

class RequestLine {
  readonly #socket: Socket & Parsed;
  readonly #parse: (bytes: Buffer) => void;
  #unanswered = 0;
  #last: IncomingMessage | null = null;
  /** The client has closed its half. */
  #isEnded = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#parse = socket.listeners('data')[0] as (bytes: Buffer) => void;
    lines.set(socket, this);
    socket.off('data', this.#parse);
    socket.on('data', this.#onData);
    // A stream that holds bytes does not report its end, so the end is noticed where the connection hands it over.
    const push = socket.push.bind(socket);
    socket.push = (bytes: unknown, encoding?: BufferEncoding) => {
      const takesMore = push(bytes, encoding);
      if (bytes === null) {
        this.#isEnded = true;
        setImmediate(this.#leave);
      }
      return takesMore;
    };
  }

  begin(req: IncomingMessage, res: ServerResponse): void {
    this.#last = req;
    this.#unanswered += 1;
    if (this.#unanswered > LIMITS.pipelinedRequestsMax) this.#socket.destroy();
    res.once('close', () => {
      this.#unanswered -= 1;
      if (this.#socket.readableLength > 0) turns.add(this);
    });
  }

  /** It is the turn of this connection. */
  proceed(): void {
    if (this.#mayParse()) this.#socket.resume();
  }

  readonly #onData = (bytes: Buffer): void => {
    const socket = this.#socket;
    // The last answer is out: what stands behind its request is read by nobody, or it could pass for another one.
    if (socket.writableEnded) return;
    const isTaken = this.#mayParse();
    const end = isTaken ? this.#cut(bytes) : 0;
    if (end < bytes.length) {
      // Put back before anything is parsed: an upgrade puts what stands behind it in front of this.
      socket.pause();
      socket.unshift(bytes.subarray(end));
      if (this.#isEnded) setImmediate(this.#leave);
    }
    if (!isTaken) return;
    this.#parse(bytes.subarray(0, end));
    if (!socket.parser) socket.off('data', this.#onData);
    else if (end < bytes.length && this.#mayParse()) turns.add(this);
  };

  /**
   * A client that has closed its half while a whole request of it is under way has left, as it has without bytes behind that
   * request: its work ends with the connection. Behind more bytes than the buffer holds, an end cannot be seen.
   */
  readonly #leave = (): void => {
    const isWaiting = this.#unanswered > 0 && this.#last?.complete === true;
    if (isWaiting && this.#socket.readableLength > 0) this.#socket.destroy();
  };

  /** The connection has no request, and may have none any more, or has still to send the body of its only one, for which there is room. */
  #mayParse(): boolean {
    if (this.#socket.destroyed || this.#socket._paused === true) return false;
    if (this.#unanswered === 0 || this.#socket.writableEnded) return true;
    const last = this.#last;
    if (this.#unanswered > 1 || last === null || last.complete) return false;
    return last.readableLength < last.readableHighWaterMark;
  }

  #cut(bytes: Buffer): number {
    const isBody = this.#last?.complete === false;
    const found = bytes.indexOf(BLANK_LINE, isBody ? LIMITS.pipelinedBytesMin : 0, 'latin1');
    return found === -1 ? bytes.length : found + BLANK_LINE.length;
  }
}

/**
 * Connections that have more to give, of the whole process: so many are taken in each turn of the event loop, in the order
 * they came, and whatever else there is to do comes between.
 */
class Turns {
  readonly #waiting = new Set<RequestLine>();

  add(line: RequestLine): void {
    this.#waiting.add(line);
    if (this.#waiting.size === 1) setImmediate(this.#take);
  }

  readonly #take = (): void => {
    let taken = 0;
    for (const line of this.#waiting) {
      if (taken === LIMITS.pipelinedTurns) break;
      taken += 1;
      this.#waiting.delete(line);
      line.proceed();
    }
    if (this.#waiting.size > 0) setImmediate(this.#take);
  };
}

const turns = new Turns();
