import { setTimeout as pause } from 'node:timers/promises';
import type { MintToken } from '@wts/access';
import type { BodyOf, Contract, ErrorCode, ParamsOf, Principal, QueryOf, ReplyOf, ServiceName } from '@wts/contracts';
import { ERRORS, Fault, HEADERS } from '@wts/contracts';
import type { Registry } from 'prom-client';
import type { CallerNetworks } from '../fairness/index.ts';
import type { Logger } from '../observe/logger.ts';
import type { Address } from './address.ts';
import { Addresses } from './addresses.ts';
import { RetryBudget } from './budget.ts';
import { currentCall } from './current-call.ts';
import { dispatch, type ServiceReply, type Outgoing } from './dispatch.ts';
import { callMetrics, type CallOutcome } from './metrics.ts';
import { SERVICE_LIMITS } from '../limits.ts';

interface ServiceClientOptions {
  /** The service that is called: its tokens are valid there only. */
  readonly name: string;
  readonly urls: readonly string[];
  /** The service that calls. */
  readonly self: string;
  readonly mintToken: MintToken;
  readonly log: Logger;
  /** The networks of the people who are named in calls, which are sent beside their tokens. */
  readonly networks?: CallerNetworks;
  /** The cell that calls; none for the first. */
  readonly shard?: number | undefined;
  readonly metrics?: Registry;
  /** How often names are resolved again. */
  readonly refreshMs?: number;
}

/** What a client needs of the service that calls; it closes with that service. */
interface ServiceClientKit {
  readonly name: string;
  readonly mintTokenFor: (to: ServiceName) => MintToken;
  readonly addressRefreshMs: number;
  readonly log: Logger;
  readonly networks: CallerNetworks;
  readonly metrics: Registry;
  readonly stack: AsyncDisposableStack;
  readonly shard?: number;
}

export interface ServiceCallOptions<C> {
  readonly principal: Principal;
  readonly params?: ParamsOf<C>;
  readonly query?: QueryOf<C>;
  readonly body?: BodyOf<C>;
  /** By default that of the request whose handler calls; see `currentCall`. */
  readonly requestId?: string;
  /** The same. */
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** Sent as `Idempotency-Key`, to an operation that accepts it. */
  readonly idempotencyKey?: string;
  /** True when the call may be repeated after the connection broke. Default: true for GET. */
  readonly idempotent?: boolean;
}

export interface ServiceClient {
  readonly call: <C extends Contract>(contract: C, options: ServiceCallOptions<C>) => Promise<ReplyOf<C>>;
  readonly close: () => Promise<void>;
}

/** The first try and two more, each at another address while there is one. */
const TRIES_MAX = 3;
const CONNECTING = {
  underWayMax: 1024,
  connections: 64,
  /** Services are close to each other: a connection that takes longer will fail. */
  connectTimeoutMs: 1_000,
  /** 0: each call has its own deadline. */
  headersTimeoutMs: 0,
  bodyTimeoutMs: 0,
};
/** Before the same address is tried again, which may be restarting. */
const RETRY_PAUSE_MS = 50;
/** A try that may be repeated at another address gets half of the time left, but at least this. */
const TRY_MS_MIN = 1_000;

/** Opens the client that a running service has of another one. */
export function openServiceClient(kit: ServiceClientKit, name: ServiceName, urls: readonly string[]): ServiceClient {
  const { name: self, addressRefreshMs: refreshMs, log, metrics, networks, shard, stack } = kit;
  const client = createServiceClient({
    name,
    urls,
    self,
    mintToken: kit.mintTokenFor(name),
    log,
    metrics,
    networks,
    shard,
    refreshMs,
  });
  stack.defer(() => client.close());
  return client;
}

/**
 * Calls operations of another service. A fault of the other service is thrown with the same code; a service that cannot be reached
 * is `unavailable`. A call that got no connection is tried at another address, because nothing was sent. A call whose connection
 * broke, or that takes too long, is repeated only when it is idempotent. A retry budget protects an overloaded service.
 */
export function createServiceClient(client: ServiceClientOptions): ServiceClient {
  const { name, urls, self, mintToken, log, metrics, networks, shard = 0, refreshMs } = client;
  const addresses = new Addresses({
    name,
    urls,
    log,
    ...CONNECTING,
    ...(refreshMs === undefined ? {} : { refreshMs }),
    ...(metrics === undefined ? {} : { observe: callMetrics(metrics, name) }),
  });
  const budget = new RetryBudget();

  async function send(outgoing: Outgoing, isRepeatable: boolean, deadlineMs: number): Promise<ServiceReply> {
    const tried = new Set<Address>();
    budget.deposit();
    for (let tries = 1; ; tries += 1) {
      const address = (addresses.pick(tried) ?? addresses.pick()) as Address;
      tried.add(address);
      const end = addresses.begin(address);
      let outcome: CallOutcome = 'answered';
      const hasOtherAddress = tries < Math.min(addresses.count, TRIES_MAX);
      try {
        const reply = await dispatch(
          address,
          outgoing,
          isRepeatable && hasOtherAddress ? half(deadlineMs) : deadlineMs,
        );
        addresses.answered(address);
        if (reply.status >= 500) outcome = 'failed';
        return reply;
      } catch (cause) {
        const failure = (outcome = kindOf(cause));
        if (failure !== 'cancelled') addresses.failed(address, cause);
        log.debug({ peer: name, origin: address.name, failure, err: cause }, 'call failed');
        const mayRetry = failure === 'unreachable' || (isRepeatable && (failure === 'cut' || failure === 'overdue'));
        const hasTime = performance.now() + RETRY_PAUSE_MS < deadlineMs;
        if (!mayRetry || !hasTime || tries === TRIES_MAX || !budget.withdraw())
          throw new Fault('unavailable', { cause });
        if (!hasOtherAddress) await pause(RETRY_PAUSE_MS);
      } finally {
        end(outcome);
      }
    }
  }

  return {
    call: async (contract, given) => {
      const { requestId, signal } = currentCall.getStore() ?? {};
      const options = { ...(requestId && { requestId }), ...(signal && { signal }), ...given };
      const { timeoutMs = SERVICE_LIMITS.internalCallTimeoutMs, idempotent = contract.method === 'GET' } = options;
      const headers = headersOf(options, { mintToken, self, network: networks?.find(options.principal.userId), shard });
      addresses.enter();
      const deadlineMs = performance.now() + timeoutMs;
      const outgoing = compose(contract, options, { to: name, headers });
      const reply = await send(outgoing, idempotent, deadlineMs).finally(() => addresses.leave());
      return readReply(reply, name, log) as ReplyOf<typeof contract>;
    },
    close: () => addresses.close(),
  };
}

function half(deadlineMs: number): number {
  const now = performance.now();
  return Math.min(deadlineMs, now + Math.max(TRY_MS_MIN, (deadlineMs - now) / 2));
}

function headersOf(
  { principal, requestId, idempotencyKey, body }: ServiceCallOptions<Contract>,
  {
    mintToken,
    self,
    network,
    shard,
  }: { mintToken: MintToken; self: string; network: string | undefined; shard: number },
): Record<string, string> {
  return {
    [HEADERS.principal]: mintToken(principal),
    ...(network === undefined ? {} : { [HEADERS.network]: network }),
    ...(shard === 0 ? {} : { [HEADERS.shard]: String(shard) }),
    'user-agent': `wts-${self}`,
    ...(requestId === undefined ? {} : { [HEADERS.requestId]: requestId }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
}

function compose<C extends Contract>(
  contract: C,
  options: ServiceCallOptions<C>,
  to: Pick<Outgoing, 'to' | 'headers'>,
): Outgoing {
  const { body, signal } = options;
  return {
    ...to,
    route: contract.path,
    method: contract.method,
    path: pathOf(contract, options),
    body: body === undefined ? null : JSON.stringify(body),
    signal,
  };
}

function pathOf<C extends Contract>(contract: C, { params, query }: ServiceCallOptions<C>): string {
  const values = (params ?? {}) as Record<string, unknown>;
  const path = contract.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
  const pairs = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  if (pairs.length === 0) return path;
  return `${path}?${new URLSearchParams(pairs.map(([key, value]) => [key, String(value)])).toString()}`;
}

type FailureKind = Exclude<CallOutcome, 'answered' | 'failed'>;

const NOTHING_SENT: readonly string[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

function kindOf(cause: unknown): FailureKind {
  const { code, name } = (cause ?? {}) as { code?: string; name?: string };
  if (name === 'TimeoutError') return 'overdue';
  if (name === 'AbortError') return 'cancelled';
  if (code !== undefined && NOTHING_SENT.includes(code)) return 'unreachable';
  return 'cut';
}

/** Codes that refuse the internal token: a fault of the deployment, not of the person on whose behalf the call is. */
const INTERNAL_REFUSALS: readonly string[] = [
  'authorization_required',
  'authorization_malformed',
  'token_invalid',
  'api_key_invalid',
];

function readReply(reply: ServiceReply, name: string, log: Logger): unknown {
  const body = parse(reply);
  if (reply.status < 400) return body;
  const { code, message, retryAfterSeconds } = (body ?? {}) as Record<string, unknown>;
  if (typeof code !== 'string' || !Object.hasOwn(ERRORS, code))
    throw new Fault('unavailable', { cause: new Error(`${name} answered with status ${reply.status}`) });
  if (INTERNAL_REFUSALS.includes(code)) {
    log.error(
      { peer: name, code },
      'the service refused the internal token: its INTERNAL_TOKEN_PUBLIC_KEYS lacks the key of this service, or the operation is not open to this service',
    );
    throw new Fault('unavailable', { cause: new Error(`${name} refused the internal token`) });
  }
  throw new Fault(code as ErrorCode, {
    ...(typeof message === 'string' ? { message } : {}),
    ...(typeof retryAfterSeconds === 'number' ? { retryAfterSeconds } : {}),
    cause: new Error(`${name} answered ${code}`),
  });
}

function parse({ status, body }: ServiceReply): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch (cause) {
    throw new Fault('unavailable', { cause: new Error(`an answer with status ${status} is not JSON`, { cause }) });
  }
}
