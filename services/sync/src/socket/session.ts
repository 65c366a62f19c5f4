import { concerns, endsCredential, requireScope } from '@wts/access';
import { Fault, LIMITS, type Principal, type Revocation, type SocketErrorCode } from '@wts/contracts';
import type { Logger } from '@wts/log';
import type { Duplex } from 'node:stream';
import { WebSocket, type RawData } from 'ws';
import type { ActionSpelling } from '../deltas/action-spelling.ts';
import { inOrder } from '../deltas/group-list.ts';
import { watermark, type Packet } from '../hub/packet.ts';
import { Feed, type FeedSources, type FeedSocket } from './feed.ts';
import { errorFrame, parseClientFrame, subscribedFrame, type Subscribe } from './frames.ts';
import type { SocketMetrics } from './metrics.ts';
import type { Unsent } from './unsent.ts';
import { SYNC_LIMITS } from '../limits.ts';

/** Shared by the sessions of one replica. */
export interface SessionSources extends FeedSources {
  /** The principal of the token in a subscribe frame; throws the fault of a bad credential. */
  readonly authenticate: (token: string) => Promise<Principal>;
  readonly readHead: () => Promise<{ head: bigint; floor: bigint }>;
  readonly metrics: SocketMetrics;
  readonly logger: Logger;
  readonly unsent: Unsent;
  readonly limits: SocketLimits;
}

export interface SocketLimits {
  readonly subscribeTimeoutMs: number;
  readonly pingMs: number;
  readonly watermarkMs: number;
  readonly unsentBytesMax: number;
  readonly stalledMs: number;
  /** Of all sockets together. */
  readonly unsentOfAllBytesMax: number;
}

export const SOCKET_LIMITS: SocketLimits = {
  subscribeTimeoutMs: LIMITS.socketSubscribeTimeoutMs,
  pingMs: LIMITS.socketPingMs,
  watermarkMs: LIMITS.socketWatermarkMs,
  unsentBytesMax: LIMITS.socketUnsentBytesMax,
  stalledMs: LIMITS.socketStalledMs,
  unsentOfAllBytesMax: SYNC_LIMITS.socketsUnsentBytesMax,
};

/** What a session is opened with. */
interface Connection {
  readonly ws: WebSocket;
  readonly stream: Duplex;
  /** Of the credential that the gateway verified. */
  readonly upgrade: Principal;
  readonly urlSpelling: ActionSpelling | undefined;
}

/** Close codes: RFC 6455, section 7.4, and the registry of it. */
export const CLOSE = { unsupported: 1003, policy: 1008, internal: 1011, restart: 1012, tryAgain: 1013 } as const;

const SUBSCRIBE_FIRST =
  'The first frame must be {"type":"subscribe","afterSyncId":"0","token":"..."}; its type is in lower case';

const PROTOCOL_ERRORS: Readonly<Record<number, string>> = {
  1008: 'The message has too many fragments',
  1009: 'The frame is too large',
};

/**
 * One socket: the frames of its client, the packets sent to it, and when it is closed. `tick` passes the time.
 *
 * Keeps sync.socket.subscribed, sync.socket.re-subscribe, sync.socket.frame-token, sync.socket.no-subscribe,
 * sync.socket.bad-frame, sync.socket.credential-dies, sync.socket.slow-reader, sync.socket.watermark, sync.socket.ping and
 * sync.socket.bootstrap-required.
 */
export class Session implements FeedSocket {
  readonly #sources: SessionSources;
  readonly #ws: WebSocket;
  readonly #stream: Duplex;
  readonly #urlSpelling: ActionSpelling | undefined;
  readonly #upgrade: Principal;
  /** Of the last accepted subscribe frame; before that, of the upgrade. */
  #principal: Principal;
  #feed: Feed | null = null;
  /** Counts subscribe frames, because only the latest may continue. */
  #subscribeCount = 0;
  /** Aborts the reads of the latest. */
  #reading = new AbortController();
  #frames = 0;
  #closesAt: number | null = null;

  #now: number;
  readonly #openedAt: number;
  #windowAt: number;
  #pingAt: number;
  #isAlive = true;
  #fullSince: number | null = null;
  /** This socket's part of `sources.unsent`. */
  #unsentBytes = 0;
  #sentAt = 0;

  constructor(sources: SessionSources, { ws, stream, upgrade, urlSpelling }: Connection) {
    this.#sources = sources;
    this.#ws = ws;
    this.#stream = stream;
    this.#urlSpelling = urlSpelling;
    this.#upgrade = upgrade;
    this.#principal = upgrade;
    this.#now = this.#openedAt = this.#windowAt = performance.now();
    this.#pingAt = this.#now + sources.limits.pingMs;
    ws.on('message', (data, isBinary) => this.#receive(data, isBinary));
    ws.on('pong', () => this.#countFrame());
    ws.on('ping', (data) => this.#pong(data));
    ws.on('close', () => this.#end());
    stream.on('drain', () => this.#drained());
  }

  get userId(): string {
    return this.#upgrade.userId;
  }

  /** True when the credential of the upgrade or of the subscription is revoked, or that of the subscription ends with a membership. */
  isEndedBy(revocation: Revocation): boolean {
    const isUpgradeRevoked = revocation.kind === 'credential' && concerns(revocation, this.#upgrade);
    return isUpgradeRevoked || endsCredential(revocation, this.#principal);
  }

  get isFull(): boolean {
    return this.#fullSince !== null || this.#closesAt !== null;
  }

  send(packet: Packet): void {
    this.#write(packet.frame);
    this.#sentAt = this.#now;
    this.#sources.metrics.packets.inc();
    this.#sources.metrics.actions.inc(packet.count);
  }

  requireBootstrap(): void {
    // There is no subscription yet, so its client has nothing to load again.
    if (this.#subscribeCount === 0) return;
    this.#unsubscribe();
    const message =
      'afterSyncId is not in the log: it is too old, or of another log. Run a bootstrap and subscribe from its lastSyncId.';
    this.#write(errorFrame('BOOTSTRAP_REQUIRED', message));
  }

  fail(error: unknown): void {
    this.#sources.logger.warn(
      { err: error },
      'a socket was closed because its data could not be read; its client connects again. Check PostgreSQL if this repeats',
    );
    this.close(CLOSE.tryAgain, 'UNAVAILABLE', 'The server cannot read the log now; connect again');
  }

  /** Reads the person's groups again, because their memberships changed. */
  recheckGroups(): void {
    this.#feed?.recheckGroups();
  }

  close(status: number, code: SocketErrorCode, message: string): void {
    if (this.#closesAt !== null) return;
    this.#beginClose(code, message);
    this.#ws.close(status, code);
  }

  terminate(): void {
    this.#ws.terminate();
  }

  /**
   * The library closes the socket for a protocol error by itself; the client gets the reason first.
   * Keeps sync.socket.frame-max.
   */
  protocolError(status: number): void {
    if (this.#closesAt === null)
      this.#beginClose('PROTOCOL_ERROR', PROTOCOL_ERRORS[status] ?? 'The frame is malformed');
  }

  #beginClose(code: SocketErrorCode, message: string): void {
    const position = this.#feed?.position;
    this.#unsubscribe();
    this.#write(errorFrame(code, message, position));
    this.#closesAt = this.#now + SYNC_LIMITS.socketClosingMs;
    this.#sources.metrics.closes.inc({ code });
  }

  /** Called about once a second. */
  tick(now: number): void {
    this.#now = now;
    this.#countUnsent();
    // A stream emits `drain` only when it was filled to its high-water mark.
    if (this.#fullSince !== null && this.#unsentBytes === 0) this.#drained();
    const { limits } = this.#sources;
    if (this.#closesAt !== null) {
      if (now >= this.#closesAt) this.terminate();
      return;
    }
    if (now - this.#windowAt >= SYNC_LIMITS.socketFramesWindowMs) {
      this.#windowAt = now;
      this.#frames = 0;
    }
    const { expiresAt } = this.#principal;
    if (expiresAt !== undefined && Date.now() >= expiresAt * 1000) {
      this.close(CLOSE.policy, 'UNAUTHORIZED', 'The token has expired');
    } else if (this.#subscribeCount === 0 && now - this.#openedAt >= limits.subscribeTimeoutMs) {
      this.close(CLOSE.policy, 'SUBSCRIBE_TIMEOUT', 'No subscribe frame was received in time');
    } else if (this.#fullSince !== null && now - this.#fullSince >= this.#sources.unsent.allowance.stalledMs) {
      this.close(
        CLOSE.tryAgain,
        'SLOW_CONSUMER',
        'The client reads too slowly. Connect again and continue from lastSyncId.',
      );
    } else {
      this.#ping(now);
      this.#moveCursor(now);
    }
  }

  #ping(now: number): void {
    if (now < this.#pingAt) return;
    if (!this.#isAlive) {
      this.#sources.metrics.closes.inc({ code: 'HALF_OPEN' });
      this.terminate();
      return;
    }
    this.#isAlive = false;
    this.#pingAt = now + this.#sources.limits.pingMs;
    this.#ws.ping();
  }

  /** Sends a watermark, so that the cursor of a client without news stays within the log, and the client sees it is connected. */
  #moveCursor(now: number): void {
    const feed = this.#feed;
    if (feed === null) return;
    if (!feed.isLive) feed.resume();
    else if (now - this.#sentAt >= this.#sources.limits.watermarkMs) this.send(watermark(feed.position));
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#closesAt !== null) return;
    if (isBinary) {
      this.close(CLOSE.unsupported, 'INVALID_FRAME', 'Frames must be JSON text');
      return;
    }
    const frame = parseClientFrame(data as Buffer, this.#urlSpelling);
    if (!this.#countFrame(frame.kind === 'subscribe' ? SYNC_LIMITS.socketSubscribeCostsFrames : 0)) return;
    if (frame.kind === 'invalid') this.close(CLOSE.policy, 'INVALID_FRAME', frame.message);
    else if (frame.kind === 'subscribe') void this.#subscribe(frame.subscribe);
    // Its client would wait for changes until the time to subscribe is over.
    else if (this.#subscribeCount === 0) this.close(CLOSE.policy, 'INVALID_FRAME', SUBSCRIBE_FIRST);
  }

  /** Counts a frame of the client, pings and pongs too, which shows that it is connected. False when there are too many. */
  #countFrame(extra = 0): boolean {
    this.#isAlive = true;
    this.#frames += 1 + extra;
    if (this.#frames <= SYNC_LIMITS.socketFramesPerWindow) return true;
    this.close(CLOSE.policy, 'TOO_MANY_FRAMES', 'Too many frames in a short time');
    return false;
  }

  /** Replaces the subscription. A later frame cancels an earlier one that is still being processed. */
  async #subscribe({ after, token, groups, spelling }: Subscribe): Promise<void> {
    this.#unsubscribe();
    const count = this.#subscribeCount;
    const { signal } = this.#reading;
    const isCurrent = (): boolean => count === this.#subscribeCount && this.#closesAt === null;
    try {
      const principal = await this.#authenticate(token);
      if (!isCurrent()) return;
      this.#principal = principal;
      if (!(await this.#isReachable(after, signal))) {
        if (isCurrent()) this.requireBootstrap();
        return;
      }
      const known = await this.#sources.groupReads.read(principal, after, signal);
      if (!isCurrent()) return;
      const { userId, workspaceId } = principal;
      const start = { reader: { userId, workspaceId }, after, spelling, requested: groups, known };
      this.#feed = new Feed(this.#sources, this, start);
      for (const part of subscribedFrame(after, inOrder(userId, this.#feed.groups))) this.#write(part);
      this.#sentAt = this.#now;
      this.#feed.resume();
    } catch (error) {
      if (!isCurrent()) return;
      const isRefused = error instanceof Fault && error.status < 500;
      if (isRefused)
        this.close(CLOSE.policy, 'UNAUTHORIZED', 'The token is missing, invalid, or belongs to another person');
      else this.fail(error);
    }
  }

  async #authenticate(token: string | undefined): Promise<Principal> {
    if (token === undefined || token === '') throw new Fault('authorization_required');
    const principal = await this.#sources.authenticate(token);
    if (principal.userId !== this.userId) throw new Fault('token_invalid');
    requireScope(principal, 'read');
    return principal;
  }

  /** False for a cursor below the floor of the log, or beyond its head (as after a restored backup). */
  async #isReachable(after: bigint, signal: AbortSignal): Promise<boolean> {
    const { hub, gate, readHead } = this.#sources;
    if (after <= hub.last && hub.since(after) !== null) return true;
    const { head, floor } = await gate.run(this.userId, { signal }, readHead);
    return after >= floor && after <= head;
  }

  #unsubscribe(): void {
    this.#subscribeCount += 1;
    this.#reading.abort(new Error('Another subscription replaced it'));
    this.#reading = new AbortController();
    this.#feed?.end();
    this.#feed = null;
  }

  #write(frame: Buffer): void {
    if (this.#ws.readyState !== WebSocket.OPEN) return;
    this.#stream.write(frame);
    this.#noteWritten();
  }

  #drained(): void {
    this.#countUnsent();
    this.#fullSince = null;
    this.#feed?.resume();
  }

  #noteWritten(): void {
    this.#countUnsent();
    if (this.#unsentBytes > this.#sources.unsent.allowance.bytes) this.#fullSince ??= this.#now;
  }

  #countUnsent(): void {
    this.#unsentBytes = this.#sources.unsent.change(this.#unsentBytes, this.#stream.writableLength);
  }

  /** Does not answer pings of a client that does not read, because the answers would fill the memory. */
  #pong(data: Buffer): void {
    if (this.#countFrame() && !this.isFull) this.#ws.pong(data);
    this.#noteWritten();
  }

  #end(): void {
    this.#closesAt ??= this.#now;
    this.#unsubscribe();
    this.#unsentBytes = this.#sources.unsent.change(this.#unsentBytes, 0);
  }
}
