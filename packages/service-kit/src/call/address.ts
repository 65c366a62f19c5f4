import type { LookupAddress } from 'node:dns';
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import type { LookupFunction } from 'node:net';
import { Pool } from 'undici';

interface Connecting {
  readonly connections: number;
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
}

/** One process of a service, as one caller of it knows it. */
export class Address {
  /** As it was configured: what requests name as their host. */
  readonly origin: URL;
  /** What the name stood for when it was looked up; null where it has not been, or is an IP address itself. */
  readonly ip: string | null;
  /** Connects to `ip`, whatever the name stands for by then. */
  readonly lookup: LookupFunction | undefined;
  readonly pool: Pool;
  /** Failures in a row, and until when it is left alone because of them. */
  failures = 0;
  backoffUntil = 0;
  /** Requests under way, and sockets. */
  underWay = 0;
  sockets = 0;
  /** Of the last sign of life while requests were under way. */
  quietSince = 0;
  /** While it is asked for a sign of life. */
  isProbed = false;
  /** Since when it fails. */
  failingSince = 0;
  /** What to call when it shows no sign of life any more, and when it has shown none for long. */
  readonly onLost = new Set<() => void>();
  readonly onGone = new Set<() => void>();

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

/** Where a connection to it leads, for who makes one without its pool. */
export function targetOf({ origin, lookup }: Pick<Address, 'origin' | 'lookup'>): {
  readonly host: string;
  readonly port?: number;
  readonly lookup?: LookupFunction;
} {
  return {
    host: origin.hostname.replace(/^\[|\]$/g, ''),
    ...(origin.port === '' ? {} : { port: Number(origin.port) }),
    ...(lookup === undefined ? {} : { lookup }),
  };
}

/** Any answer is a sign of life. Asked on a connection of its own, because those of the pool may all have something to do. */
export function probeHealth(address: Address, path: string, timeoutMs: number): Promise<void> {
  const get = address.origin.protocol === 'https:' ? httpsGet : httpGet;
  return new Promise((resolve, reject) => {
    const headers = { host: address.origin.host, connection: 'close' };
    const signal = AbortSignal.timeout(timeoutMs);
    const request = get({ ...targetOf(address), path, headers, signal, agent: false }, (answer) => {
      answer.on('error', () => undefined);
      answer.destroy();
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
