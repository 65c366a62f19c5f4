import { requireScope } from '@wts/access';
import type { Logger } from '@wts/log';
import { API_VERSION, randomRetryAfterSeconds, Fault, LIMITS, syncApi } from '@wts/contracts';
import type { Principal, Revocation } from '@wts/contracts';
import { refuseUpgrade, requestIdOf } from '@wts/service-kit/http';
import { readInternalCall, type CallReader } from '@wts/service-kit/routes';
import type { GroupSource } from '@wts/read-model';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Registry } from 'prom-client';
import { WebSocket, WebSocketServer } from 'ws';
import type { ActionSpelling } from '../deltas/action-spelling.ts';
import type { FairGate, LoopTurns } from '@wts/service-kit/fairness';
import type { Hub } from '../hub/hub.ts';
import { GroupListeners } from './group-listeners.ts';
import { isActionSpelling } from './frames.ts';
import { GroupReads } from './group-reads.ts';
import { socketMetrics } from './metrics.ts';
import { Rounds } from './rounds.ts';
import { CLOSE, SOCKET_LIMITS, Session, type SessionSources, type SocketLimits } from './session.ts';
import { Unsent } from './unsent.ts';
import { SYNC_LIMITS } from '../limits.ts';

/*
 * The WebSocket server.
 *
 * A socket starts with an upgrade whose credential the gateway has verified. Its client sends a `subscribe` frame with a
 * cursor, gets `subscribed`, then the entries after the cursor, then new entries, in strictly ascending order and without
 * gaps: one `Feed` reads the log for it (`feed.ts`), at the pace of its client. The feeds of a replica are served in rounds
 * (`rounds.ts`); those with the same groups share the same bytes. Memory per socket is bounded because a feed pulls: while
 * its client does not read, its cursor waits.
 *
 * Before the server closes a socket, it sends the reason in an `error` frame. A client may always connect again with the
 * last `lastSyncId` it has received.
 *
 * Keeps sync.socket.frame-max and sync.socket.drain.
 */

export interface SocketServerOptions {
  /** Divides the database reads of sockets by person: groups and pages. */
  readonly gate: FairGate;
  /** Divides the event loop by person, for sockets that catch up within the ring. */
  readonly turns: LoopTurns;
  readonly groups: GroupSource;
  readonly readEntries: SessionSources['readEntries'];
  readonly hub: Hub;
  readonly readHead: () => Promise<{ head: bigint; floor: bigint }>;
  readonly authenticate: (token: string) => Promise<Principal>;
  readonly calls: CallReader;
  readonly metrics: Registry;
  readonly logger: Logger;
  readonly socketsMax: number;
  readonly limits?: Partial<SocketLimits> & { readonly tickMs?: number };
}

export interface SocketServer extends AsyncDisposable {
  upgrade(req: IncomingMessage, stream: Duplex, head: Buffer): void;
  /** Applies the end of a credential or a membership. */
  revoke(revocation: Revocation): void;
  /** Closes all sockets at random times within `spreadMs`, so that their clients do not all reconnect at once. */
  drain(spreadMs?: number): Promise<void>;
  readonly size: number;
}

const TICK_MS = 1_000;
const DRAIN_SPREAD_MS = 4_000;
const DRAIN_END_MS = 2_000;

export function openSocketServer(options: SocketServerOptions): SocketServer {
  return new Server(options);
}

/** Notifies its session before the library closes the socket for a protocol error, which it does without a reason. */
class SessionWebSocket extends WebSocket {
  session: Session | undefined;

  override close(status?: number, reason?: string | Buffer): void {
    if (status !== undefined && reason === undefined) this.session?.protocolError(status);
    super.close(status, reason);
  }
}

class Server implements SocketServer {
  readonly #options: SocketServerOptions;
  readonly #sessions = new Set<Session>();
  readonly #sources: SessionSources;
  readonly #server: WebSocketServer;
  readonly #socketsMax: number;
  readonly #ticking: NodeJS.Timeout;
  readonly #stopListening: () => void;
  #isDraining = false;
  /** The commit time of the newest chunk that no round has sent yet; null when there is none. */
  #newestMs: number | null = null;

  constructor(options: SocketServerOptions) {
    this.#options = options;
    const { hub, gate, turns, limits = {}, logger } = options;
    const { tickMs = TICK_MS, ...changed } = limits;
    this.#socketsMax = options.socketsMax;
    const allowed: SocketLimits = { ...SOCKET_LIMITS, ...changed };
    const unsent = new Unsent(
      allowed.unsentOfAllBytesMax,
      { bytes: allowed.unsentBytesMax, stalledMs: allowed.stalledMs },
      {
        bytes: SYNC_LIMITS.socketUnsentBytesTight,
        stalledMs: Math.min(allowed.stalledMs, SYNC_LIMITS.socketStalledTightMs),
      },
    );
    const metrics = socketMetrics(options.metrics, {
      sockets: () => this.size,
      ringBytes: () => hub.ringBytes,
      unsentBytes: () => unsent.bytes,
    });
    this.#sources = {
      hub,
      gate,
      turns,
      metrics,
      logger,
      rounds: new Rounds(
        () => hub.last,
        () => this.#observeLag(),
      ),
      groupListeners: new GroupListeners(),
      groupReads: new GroupReads(options.groups, gate),
      readEntries: options.readEntries,
      authenticate: options.authenticate,
      readHead: options.readHead,
      unsent,
      limits: allowed,
    };
    this.#server = this.#openServer();
    this.#stopListening = hub.listen({
      onChunk: (chunk) => {
        this.#newestMs = chunk.committedAtMs;
        this.#sources.groupListeners.wake(chunk);
      },
      onEpoch: () => {
        this.#sources.groupReads.invalidate();
        for (const session of this.#sessions) session.requireBootstrap();
      },
    });
    this.#ticking = setInterval(() => this.#tick(), tickMs);
    this.#ticking.unref();
  }

  get size(): number {
    return this.#sessions.size;
  }

  upgrade(req: IncomingMessage, stream: Duplex, head: Buffer): void {
    // An error before the library handles the connection must not end the process.
    stream.on('error', () => stream.destroy());
    try {
      const { pathname, searchParams } = new URL(req.url ?? '', 'http://server');
      if (pathname !== syncApi.socket.path) throw new Fault('not_found');
      const principal = this.#principalOf(req);
      const urlSpelling = searchParams.get('actions');
      if (urlSpelling !== null && !isActionSpelling(urlSpelling))
        throw new Fault('validation_failed', { message: 'query/actions must be "words" or "letters"' });
      if (this.#isDraining || !this.#options.hub.isOpen || this.size >= this.#socketsMax)
        throw new Fault('unavailable', { retryAfterSeconds: randomRetryAfterSeconds() });
      this.#server.handleUpgrade(req, stream, head, (ws) =>
        this.#openSession(ws as SessionWebSocket, stream, principal, urlSpelling ?? undefined),
      );
    } catch (error) {
      if (!(error instanceof Fault))
        this.#options.logger.error(
          { err: error },
          'a WebSocket upgrade failed because of a bug; its client received 500. Report it with this stack trace',
        );
      refuseUpgrade(stream, error instanceof Fault ? error : new Fault('internal', { cause: error }), requestIdOf(req));
    }
  }

  // Keeps sync.socket.credential-dies.
  revoke(revocation: Revocation): void {
    const { kind, userId } = revocation;
    if (kind !== 'credential') this.#sources.groupReads.invalidate(userId);
    for (const session of this.#sessions) {
      if (session.isEndedBy(revocation)) session.close(CLOSE.policy, 'UNAUTHORIZED', 'The credential was revoked');
      else if (kind !== 'credential' && (userId === undefined || session.userId === userId)) session.recheckGroups();
    }
  }

  async drain(spreadMs: number = DRAIN_SPREAD_MS): Promise<void> {
    this.#isDraining = true;
    const timers = [...this.#sessions].map((session) =>
      setTimeout(
        () => session.close(CLOSE.restart, 'RESTARTING', 'The server is restarting; connect again'),
        Math.random() * spreadMs,
      ),
    );
    const deadline = performance.now() + spreadMs + DRAIN_END_MS;
    while (this.size > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
    for (const timer of timers) clearTimeout(timer);
    for (const session of this.#sessions) session.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain(0);
    clearInterval(this.#ticking);
    this.#stopListening();
  }

  #openServer(): WebSocketServer {
    const server = new WebSocketServer({
      noServer: true,
      maxPayload: LIMITS.socketFrameBytesMax,
      maxFragments: SYNC_LIMITS.socketFragmentsMax,
      maxBufferedChunks: SYNC_LIMITS.socketChunksMax,
      // With compression each socket would take hundreds of kilobytes, and sockets could not share frames.
      perMessageDeflate: false,
      clientTracking: false,
      autoPong: false,
      // RFC 6455, 4.2.2: the server does not confirm a subprotocol that it does not support. Keeps sync.socket.no-subprotocol.
      handleProtocols: () => false,
      WebSocket: SessionWebSocket,
    });
    server.on('headers', (headers) => headers.push(`Api-Version: ${API_VERSION}`));
    server.on('wsClientError', (error, stream, req) =>
      refuseUpgrade(stream, handshakeFault(error, req), requestIdOf(req)),
    );
    return server;
  }

  #principalOf(req: IncomingMessage): Principal {
    const { principal } = readInternalCall(req.headers, syncApi.socket, this.#options.calls);
    requireScope(principal, 'read');
    return principal;
  }

  #openSession(
    ws: SessionWebSocket,
    stream: Duplex,
    principal: Principal,
    urlSpelling: ActionSpelling | undefined,
  ): void {
    const session = new Session(this.#sources, { ws, stream, upgrade: principal, urlSpelling });
    ws.session = session;
    ws.on('error', (error) =>
      this.#options.logger.debug({ err: error }, 'a client sent a frame that violates the WebSocket protocol'),
    );
    ws.on('close', () => this.#sessions.delete(session));
    this.#sessions.add(session);
  }

  #tick(): void {
    const now = performance.now();
    for (const session of this.#sessions) session.tick(now);
    this.#options.hub.trim();
  }

  #observeLag(): void {
    const committedAtMs = this.#newestMs;
    this.#newestMs = null;
    if (committedAtMs !== null) this.#sources.metrics.lag.observe(Math.max(0, Date.now() - committedAtMs) / 1000);
  }
}

/** A refusal of the library, as a fault. */
function handshakeFault(error: Error, req: IncomingMessage): Fault {
  const version = req.headers['sec-websocket-version'];
  if (req.method !== 'GET') return new Fault('method_not_allowed', { headers: { Allow: 'GET' } });
  if (version !== '13' && version !== '8')
    return new Fault('upgrade_required', { headers: { Upgrade: 'websocket', 'Sec-WebSocket-Version': '13, 8' } });
  return new Fault('malformed_request', { message: 'The WebSocket handshake is malformed', cause: error });
}
