import { readFileSync } from 'node:fs';
import { createSecureContext, connect as connectTls, getCACertificates } from 'node:tls';
import type { SecureContext, TLSSocket } from 'node:tls';
import { canonicalAddress, type AddressGuard } from './address-guard.ts';
import type { Target } from './target.ts';
import { EgressFailure, reasonOf } from './failure.ts';
import type { EgressMetrics } from './metrics.ts';
import type { AddressResolver } from './resolver.ts';

/** How far a connection got: it decides the error of an attempt whose time ends. */
export type Phase = 'resolve' | 'connect' | 'exchange';

export interface ConnectProgress {
  /** Ends the connecting. */
  readonly signal: AbortSignal;
  onPhase(phase: Phase): void;
}

/** A TLS connection to a public address. Rejects with an `EgressFailure`. */
export type Connect = (target: Target, progress: ConnectProgress) => Promise<TLSSocket>;

export interface ConnectOptions {
  readonly guard: AddressGuard;
  readonly resolver: AddressResolver;
  /** PEM file of authorities that are trusted besides the usual ones. */
  readonly extraCaFile?: string | undefined;
  readonly metrics?: Pick<EgressMetrics, 'addressBlocked'>;
}

/** A name with more addresses than this has its other ones ignored. */
const ADDRESSES_TRIED_MAX = 3;
/** Before the next address is tried; the last one has the rest of the time. */
const ADDRESS_TIMEOUT_MS = 2_500;

/**
 * Makes connections to public addresses only. All addresses of a name are judged, and one that is not public refuses the
 * whole set, because a name that has both kinds may be an attack. What is connected to is one of the addresses
 * judged, never the name, so a second answer of DNS changes nothing; the address at the other end is compared once more.
 *
 * Keeps webhooks.attempt.address-guard.
 */
export function openConnector({ guard, resolver, extraCaFile, metrics }: ConnectOptions): Connect {
  const secureContext = contextWith(extraCaFile);
  return async (target, progress) => {
    const { host, isAddress } = target;
    const addresses = isAddress ? [host] : await resolver.resolve(host);
    progress.signal.throwIfAborted();
    const blocked = addresses.find((address) => !guard.allows(address));
    if (blocked !== undefined) {
      metrics?.addressBlocked(isAddress ? 'url' : 'answer');
      throw new EgressFailure('blocked_address', `${host} is at ${blocked}`);
    }
    progress.onPhase('connect');
    const dialing = { target, secureContext, signal: progress.signal, metrics };
    const socket = await connectToAny(addresses.slice(0, ADDRESSES_TRIED_MAX), dialing);
    progress.onPhase('exchange');
    return socket;
  };
}

function contextWith(extraCaFile: string | undefined): SecureContext {
  const minVersion = 'TLSv1.2';
  if (extraCaFile === undefined) return createSecureContext({ minVersion });
  return createSecureContext({ minVersion, ca: [...getCACertificates('default'), readFileSync(extraCaFile, 'utf8')] });
}

interface Dialing {
  readonly target: Target;
  readonly secureContext: SecureContext;
  readonly signal: AbortSignal;
  readonly metrics: ConnectOptions['metrics'];
}

/** The address did not accept the connection, so another one of the same name may. */
class NotConnected extends EgressFailure {}

/** One address after the other, while they do not accept. */
async function connectToAny(addresses: readonly string[], dialing: Dialing): Promise<TLSSocket> {
  const last = addresses.length - 1;
  for (const address of addresses.slice(0, last)) {
    try {
      return await connectTo(address, dialing, ADDRESS_TIMEOUT_MS);
    } catch (error) {
      if (!(error instanceof NotConnected)) throw error;
    }
  }
  return connectTo(addresses[last] ?? '', dialing, null);
}

function connectTo(address: string, dialing: Dialing, timeoutMs: number | null): Promise<TLSSocket> {
  const { target, secureContext, signal, metrics } = dialing;
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const socket = connectTls({
    host: address,
    port: target.port,
    secureContext,
    ALPNProtocols: ['http/1.1'],
    // Set here, because otherwise a variable of the environment could disable it.
    rejectUnauthorized: true,
    ...(target.isAddress ? {} : { servername: target.host }),
  });
  const fail = (error: unknown): void => {
    socket.destroy();
    reject(error);
  };
  const abort = (): void => fail(signal.reason);
  const late = (): void => fail(new NotConnected('connect_timeout', `${address} does not accept`));
  const timer = timeoutMs === null ? undefined : setTimeout(late, timeoutMs);
  let isAccepted = false;
  signal.addEventListener('abort', abort);
  socket.setNoDelay(true);
  socket.once('connect', () => {
    clearTimeout(timer);
    isAccepted = true;
    const { remoteAddress } = socket;
    // The connection ended before this callback.
    if (remoteAddress === undefined) return fail(new EgressFailure('connection_reset', address));
    if (canonicalAddress(remoteAddress) === canonicalAddress(address)) return;
    metrics?.addressBlocked('peer');
    fail(new EgressFailure('blocked_address', `${address} was answered by ${remoteAddress}`));
  });
  socket.once('secureConnect', () => resolve(socket));
  // Never removed, so that no error is without a listener before undici adds its own.
  socket.on('error', (error) => {
    if (isAccepted) fail(new EgressFailure(reasonOf(error, 'tls_error'), address, error));
    else fail(new NotConnected(reasonOf(error, 'connection_refused'), address, error));
  });
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  });
}
