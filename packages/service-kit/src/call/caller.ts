import { mintInternalToken } from '@wts/access';
import type { BodyOf, Contract, ErrorCode, ParamsOf, Principal, QueryOf, ReplyOf, Shape } from '@wts/contracts';
import { ERRORS, Fault, HEADERS, LIMITS } from '@wts/contracts';
import type { Logger } from '../observe/logger.ts';
import { endCallSpan, isTracing, startCallSpan } from '../observe/tracing.ts';
import { RetryBudget } from './budget.ts';
import type { Endpoint } from './endpoints.ts';
import { Endpoints } from './endpoints.ts';
import type { Answer, Outgoing } from './exchange.ts';
import { dispatch } from './exchange.ts';

interface CallerOptions {
  /** The service that is called; for logs and traces. */
  readonly name: string;
  readonly urls: readonly string[];
  readonly secret: string;
  /** The service that calls. */
  readonly self: string;
  readonly log: Logger;
}

export interface CallOptions<C> {
  readonly principal: Principal;
  readonly params?: ParamsOf<C>;
  readonly query?: QueryOf<C>;
  readonly body?: BodyOf<C>;
  readonly requestId?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** True when doing it twice is doing it once, so that a call cut off in the middle may be made again. */
  readonly idempotent?: boolean;
}

export interface Caller {
  call<C extends Contract<Shape>>(contract: C, options: CallOptions<C>): Promise<ReplyOf<C>>;
  close(): Promise<void>;
}

/** The first try, one origin more for each retry. */
const TRIES_MAX = 3;
/** With a single origin a retry is worth waiting a moment for: it may be restarting. */
const RETRY_PAUSE_MS = 50;

/**
 * Calls operations of another service. A fault of the other side is thrown here with the same code; a service that cannot
 * be reached is `unavailable`. Connections that were refused are tried elsewhere whatever the method, because nothing
 * was sent; calls cut off in the middle only when repeating them is harmless. All retries together stay within a budget,
 * so that a struggling service is not buried under them.
 */
export function createCaller({ name, urls, secret, self, log }: CallerOptions): Caller {
  const endpoints = new Endpoints(urls, LIMITS.internalCallTimeoutMs);
  const budget = new RetryBudget();

  async function attempt(outgoing: Outgoing, mayRepeat: boolean): Promise<Answer> {
    const tried: Endpoint[] = [];
    budget.deposit();
    for (;;) {
      const endpoint = endpoints.pick(tried, performance.now());
      tried.push(endpoint);
      try {
        const answer = await dispatch(endpoint.pool, outgoing);
        endpoints.succeeded(endpoint);
        return answer;
      } catch (cause) {
        const failure = kindOf(cause);
        if (failure !== 'deadline' && failure !== 'cancelled') endpoints.failed(endpoint, performance.now());
        log.debug({ service: name, origin: endpoint.origin, failure, err: cause }, 'call failed');
        const isWorthIt = failure === 'unreachable' || (failure === 'cut' && mayRepeat);
        const isLast = tried.length >= TRIES_MAX || performance.now() + RETRY_PAUSE_MS > outgoing.deadlineMs;
        if (!isWorthIt || isLast || !budget.withdraw()) throw new Fault('unavailable', { cause });
        if (tried.length >= endpoints.count) await pause(RETRY_PAUSE_MS);
      }
    }
  }

  return {
    async call(contract, options) {
      const outgoing = compose(contract, options, secret, self);
      const span = isTracing() ? startCallSpan(`${name} ${contract.id}`, outgoing.headers) : undefined;
      try {
        const answer = await attempt(outgoing, contract.method === 'GET' || options.idempotent === true);
        if (span !== undefined) endCallSpan(span);
        return readAnswer(answer, name, log) as ReplyOf<typeof contract>;
      } catch (failure) {
        if (span !== undefined) endCallSpan(span, failure);
        throw failure;
      }
    },
    close: () => endpoints[Symbol.asyncDispose](),
  };
}

function compose<C extends Contract<Shape>>(
  contract: C,
  options: CallOptions<C>,
  secret: string,
  self: string,
): Outgoing {
  const { principal, requestId, body } = options;
  const headers: Record<string, string> = {
    [HEADERS.principal]: mintInternalToken(principal, secret),
    'user-agent': `wts-${self}`,
  };
  if (requestId !== undefined) headers[HEADERS.requestId] = requestId;
  if (body !== undefined) headers['content-type'] = 'application/json';
  return {
    method: contract.method,
    path: pathOf(contract, options),
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    deadlineMs: performance.now() + (options.timeoutMs ?? LIMITS.internalCallTimeoutMs),
    signal: options.signal,
  };
}

function pathOf<C extends Contract<Shape>>(contract: C, { params, query }: CallOptions<C>): string {
  const values = (params ?? {}) as Record<string, unknown>;
  const path = contract.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
  const pairs = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  if (pairs.length === 0) return path;
  return `${path}?${new URLSearchParams(pairs.map(([key, value]) => [key, String(value)])).toString()}`;
}

type FailureKind = 'unreachable' | 'cut' | 'deadline' | 'cancelled';

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
  if (name === 'TimeoutError' || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return 'deadline';
  if (name === 'AbortError') return 'cancelled';
  if (code !== undefined && NOTHING_SENT.includes(code)) return 'unreachable';
  return 'cut';
}

/** Refusals of our own internal token: a fault of the deployment, never of the person on whose behalf we call. */
const INTERNAL_REFUSALS: readonly string[] = [
  'authorization_required',
  'authorization_malformed',
  'token_invalid',
  'api_key_invalid',
];

function readAnswer(answer: Answer, name: string, log: Logger): unknown {
  const body = parse(answer);
  if (answer.status < 400) return body;
  const { code, message, retryAfterSeconds } = (body ?? {}) as Record<string, unknown>;
  if (typeof code !== 'string' || !Object.hasOwn(ERRORS, code)) {
    throw new Fault('unavailable', { cause: new Error(`${name} answered with status ${answer.status}`) });
  }
  if (INTERNAL_REFUSALS.includes(code)) {
    log.error({ service: name, code }, 'refused our internal token; INTERNAL_TOKEN_SECRET differs between services');
    throw new Fault('unavailable', { cause: new Error(`${name} refused the internal token`) });
  }
  throw new Fault(code as ErrorCode, {
    ...(typeof message === 'string' ? { message } : {}),
    ...(typeof retryAfterSeconds === 'number' ? { retryAfterSeconds } : {}),
    cause: new Error(`${name} answered ${code}`),
  });
}

function parse({ status, body }: Answer): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch (cause) {
    throw new Fault('unavailable', { cause: new Error(`an answer with status ${status} is not JSON`, { cause }) });
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
