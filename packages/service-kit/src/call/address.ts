import type { LookupAddress } from 'node:dns';
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import type { LookupFunction } from 'node:net';
import { Pool } from 'undici';

/** To each address. */
export interface Connecting {
  readonly connections: number;
  readonly connectTimeoutMs: number;
  /** 0: each call has its own deadline. */
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
}

/** One process of a service, with what a caller measures of it. */
export class Address {
  /** The configured URL, which requests name as their host. */
  readonly origin: URL;
  /** What the name was resolved to; null until it is, or where it is an IP address. */
  readonly ip: string | null;
  /** Connects to `ip`, also when the name resolves to another one by then. */
  readonly lookup: LookupFunction | undefined;
  readonly pool: Pool;
  /** Failures in a row, and until when it gets no request because of them. */
  failures = 0;
  backoffUntil = 0;
  /** Requests under way, and sockets. */
  underWay = 0;
  sockets = 0;
  /** When it last replied, or had no request under way. */
  silentSince = 0;
  /** True while a health check is under way. */
  isProbed = false;
  /** When its failures began. */
  failingSince = 0;
  /** Called when a health check fails, and when health checks have failed for long. */
  readonly onUnresponsive = new Set<() => void>();
  readonly onDead = new Set<() => void>();

  constructor(origin: URL, found: LookupAddress | null, options: Connecting) {
    this.origin = origin;
    this.ip = found?.address ?? null;
    this.lookup = found === null ? undefined : pinnedTo(found);
    this.pool = new Pool(origin.origin, {
      connections: options.connections,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: options.connectTimeoutMs, ...(this.lookup === undefined ? {} : { lookup: this.lookup }) },
      headersTimeout: options.headersTimeoutMs,
      bodyTimeout: options.bodyTimeoutMs,
    });
  }

  /** For the log. */
  get name(): string {
    return this.ip === null ? this.origin.origin : `${this.origin.origin} (${this.ip})`;
  }
}

/** The options of a connection to it that is not of its pool. */
export function targetOf({ origin, lookup }: Pick<Address, 'origin' | 'lookup'>): {
  readonly host: string;
  readonly port?: number;
  readonly lookup?: LookupFunction;
} {
  return {
    host: hostOf(origin),
    ...(origin.port === '' ? {} : { port: Number(origin.port) }),
    ...(lookup === undefined ? {} : { lookup }),
  };
}

/** Without the brackets of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Resolves with any reply. Uses a connection of its own, because those of the pool may all be busy. */
export function probeHealth(address: Address, path: string, timeoutMs: number): Promise<void> {
  const get = address.origin.protocol === 'https:' ? httpsGet : httpGet;
  return new Promise((resolve, reject) => {
    const headers = { host: address.origin.host, connection: 'close' };
    const signal = AbortSignal.timeout(timeoutMs);
    const request = get({ ...targetOf(address), path, headers, signal, agent: false }, (reply) => {
      reply.on('error', () => undefined);
      reply.destroy();
      resolve();
    });
    request.on('error', reject);
  });
}

function pinnedTo(found: LookupAddress): LookupFunction {
  return (_host, options, done) => {
    if (options.all === true) done(null, [found]);
    else done(null, found.address, found.family);
  };
}
