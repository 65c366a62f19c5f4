import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ReadToken } from '@wts/access';
import { credentialApi, HEADERS, meta, oauthApi } from '@wts/contracts';
import type { Principal, ResolvedGrant, ServiceName } from '@wts/contracts';
import { readerFor } from '@wts/testkit';

/** A request as the service received it. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  readonly principal: Principal | null;
}

type Answer = (req: IncomingMessage, res: ServerResponse, seen: Seen) => void;

/**
 * A real HTTP server instead of a service: it records the requests it receives and answers with `answer`. It answers credential
 * look-ups from a map and does not record them.
 */
export class FakeService {
  readonly seen: Seen[] = [];
  readonly keys = new Map<string, Principal>();
  readonly grants = new Map<string, ResolvedGrant>();
  /** The public keys of access tokens. */
  readonly signingKeys: object[] = [];
  readonly server: Server;
  readonly #connections = new Set<Socket>();
  /** Requests that began, also those whose body never ended. */
  started = 0;
  lookUps = 0;
  isReady = true;
  /** Look-ups wait for this. */
  lookUpGate: Promise<void> = Promise.resolve();
  answer: Answer = answerEcho;
  onUpgrade: (req: IncomingMessage, socket: Duplex, head: Buffer) => void = (_req, socket) => socket.destroy();

  readonly #readToken: ReadToken;

  constructor(service: ServiceName) {
    this.#readToken = readerFor(service);
    this.server = createServer((req, res) => void this.#handle(req, res));
    this.server.on('connection', (socket) => {
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
    });
    this.server.on('upgrade', (req, socket, head) => this.onUpgrade(req, socket, head));
  }

  static async start(service: ServiceName, port = 0): Promise<FakeService> {
    const fakeService = new FakeService(service);
    await fakeService.listen(port);
    return fakeService;
  }

  listen(port = 0): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, '127.0.0.1', resolve);
    });
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get last(): Seen {
    const seen = this.seen.at(-1);
    if (seen === undefined) throw new Error('nothing reached the service');
    return seen;
  }

  reset(): void {
    this.seen.length = 0;
    this.started = 0;
    this.isReady = true;
    this.answer = answerEcho;
  }

  async close(): Promise<void> {
    // Also upgraded ones, which the server does not track.
    for (const socket of this.#connections) socket.destroy();
    if (this.server.listening) await new Promise((resolve) => this.server.close(resolve));
  }

  async #handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.url === meta.ready.path) {
      res.writeHead(this.isReady ? 200 : 503).end('{}');
      return;
    }
    const isLookUp = req.url === oauthApi.jwks.path || (req.url?.startsWith('/internal/') ?? false);
    if (isLookUp) this.lookUps += 1;
    else this.started += 1;
    const parts: Buffer[] = [];
    try {
      for await (const part of req as AsyncIterable<Buffer>) parts.push(part);
    } catch {
      return;
    }
    const body = Buffer.concat(parts);
    if (isLookUp) {
      await this.lookUpGate;
      this.#answerLookUp(req, res, body);
      return;
    }
    const token = req.headers[HEADERS.principal];
    const principal = typeof token === 'string' ? this.#readToken(token).principal : null;
    const seen = { method: req.method ?? '', url: req.url ?? '', headers: req.headers, body, principal };
    this.seen.push(seen);
    this.answer(req, res, seen);
  }

  #answerLookUp(req: IncomingMessage, res: ServerResponse, body: Buffer): void {
    const reply = this.#replyTo(req.url, JSON.parse(body.toString('utf8') || '{}') as LookUp);
    const text = JSON.stringify(reply);
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
  }

  #replyTo(path: string | undefined, { tokenHash = '', subject, grantId = '' }: LookUp): object {
    if (path === oauthApi.jwks.path) return { keys: this.signingKeys };
    if (path === oauthApi.internalResolveGrant.path) return { ok: true, grant: this.grants.get(grantId) ?? null };
    if (path === credentialApi.internalResolveApiKey.path)
      return { ok: true, principal: this.keys.get(tokenHash) ?? null };
    return { ok: true, userId: subject };
  }
}

interface LookUp {
  readonly tokenHash?: string;
  readonly subject?: string;
  readonly grantId?: string;
}

function answerEcho(_req: IncomingMessage, res: ServerResponse, { method, url, headers, body }: Seen): void {
  const text = JSON.stringify({ ok: true, method, url, headers, bytes: body.length });
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
}
