import { EgressFailure, isReset, openConnector, parseTarget, reasonOf } from '@wts/service-kit/egress';
import type { ConnectOptions, ConnectProgress, EgressError, Phase, Target } from '@wts/service-kit/egress';
import type { Logger } from '@wts/service-kit/observe';
import type { AttemptRequest, AttemptResult, SendAttempt } from '../domain/attempt.ts';
import { parseRetryAfter } from '../domain/retry-after.ts';
import { signatureOf } from '../domain/signature.ts';
import { snippetOf } from '../domain/snippet.ts';
import { openConnections, type Connections } from './connections.ts';
import { exchange, type Answer, type Message, type NoAnswer } from './exchange.ts';
import type { AttemptMetrics } from './metrics.ts';

export interface SenderOptions extends ConnectOptions {
  readonly metrics: AttemptMetrics;
  readonly log: Logger;
  /** Closes the connections with the service. */
  readonly stack: AsyncDisposableStack;
  /** For tests only: the specification has ten seconds. */
  readonly deadlineMs?: number;
  /** For tests only: fewer idle connections than the service keeps. */
  readonly idleMax?: number;
}

const USER_AGENT = 'Workspace-Task-Service-Webhooks/1';
/** The specification's: resolving, connecting, TLS and the status line share it. */
const DEADLINE_MS = 10_000;
const LATE: Readonly<Record<Phase, EgressError>> = {
  resolve: 'dns_error',
  connect: 'connect_timeout',
  exchange: 'timeout',
};

const OVER = new EgressFailure('connection_reset', 'the attempt is over');

/**
 * Makes attempts. The steps of one: check the URL again -> take an idle connection or make one (`connect.ts`) -> sign and
 * send -> decide at the status line (`exchange.ts`). Nothing is read from the environment: no proxy, no trust.
 *
 * Keeps webhooks.attempt.success, webhooks.attempt.deadline, webhooks.headers.id, webhooks.headers.timestamp and
 * webhooks.signature.no-bearer.
 */
export function openSender(options: SenderOptions): SendAttempt {
  const { guard, metrics, log, stack, deadlineMs = DEADLINE_MS } = options;
  const connections = openConnections(openConnector(options), metrics, options.idleMax);
  stack.defer(() => connections.close());

  return async (request) => {
    const startedAt = new Date();
    const startedMs = performance.now();
    const target = parseTarget(request.url, guard);
    if (typeof target === 'string') metrics.addressBlocked('url');
    const outcome =
      typeof target === 'string'
        ? { error: new EgressFailure('blocked_address', target), isBegun: false }
        : await sendOnce(request, { target, connections, metrics, deadlineMs });
    const durationMs = ('error' in outcome ? performance.now() : outcome.decidedMs) - startedMs;
    const result = {
      startedAt,
      durationMs,
      ...('error' in outcome ? resultOfFailure(outcome) : resultOfAnswer(outcome, request.beginsAtMs + durationMs)),
    };
    metrics.attemptEnded(result.error, durationMs);
    // Addresses and the answers of DNS are in this log line and nowhere else.
    if ('error' in outcome) log.debug({ err: outcome.error, eventId: request.eventId }, 'an attempt had no answer');
    return result;
  };
}

interface Sending {
  readonly target: Target;
  readonly connections: Connections;
  readonly metrics: AttemptMetrics;
  readonly deadlineMs: number;
}

async function sendOnce(request: AttemptRequest, sending: Sending): Promise<Answer | NoAnswer> {
  const { target, connections, metrics, deadlineMs } = sending;
  const ending = new AbortController();
  let phase: Phase = 'resolve';
  const late = (): void => ending.abort(new EgressFailure(LATE[phase], `no answer within ${deadlineMs} ms`));
  const timer = setTimeout(late, deadlineMs);
  const progress: ConnectProgress = {
    signal: ending.signal,
    onPhase: (next) => {
      phase = next;
    },
  };
  const send = async (idle: ReturnType<Connections['take']>): Promise<Answer | NoAnswer> => {
    phase = idle === null ? 'resolve' : 'exchange';
    const connection = idle ?? connections.open(target, progress);
    const message = messageOf(request, target);
    return exchange(connections, { connection, message, signal: ending.signal });
  };
  try {
    const idle = connections.take(target.origin);
    metrics.connectionUsed(idle === null ? 'new' : 'reused');
    const outcome = await send(idle);
    // The consumer closed the idle connection while the request was on its way, which is no refusal of the request.
    const isStale = idle !== null && 'error' in outcome && !outcome.isBegun && isReset(outcome.error);
    if (!isStale) return outcome;
    metrics.connectionUsed('resent');
    return await send(null);
  } finally {
    clearTimeout(timer);
    // A connection that is still being made for this attempt is of no use any more.
    ending.abort(OVER);
  }
}

function messageOf(request: AttemptRequest, { path }: Target): Message {
  const { eventId, body: text, secrets, beginsAtMs, traceparent } = request;
  const body = Buffer.from(text);
  const timestampSeconds = Math.floor(beginsAtMs / 1_000);
  const headers = [
    ['content-type', 'application/json'],
    ['user-agent', USER_AGENT],
    ['webhook-id', eventId],
    ['webhook-timestamp', String(timestampSeconds)],
    ['webhook-signature', signatureOf({ eventId, timestampSeconds, body, secrets })],
    traceparent === undefined ? [] : ['traceparent', traceparent],
  ].flat();
  return { path, headers, body };
}

type Outcome = Omit<AttemptResult, 'startedAt' | 'durationMs'>;

function resultOfAnswer({ statusCode, headers, body }: Answer, nowMs: number): Outcome {
  const isSuccess = statusCode < 300;
  // An encoded body is no text, and is not decoded: a few bytes may become gigabytes.
  const isText = (headers['content-encoding'] ?? 'identity') === 'identity';
  return {
    statusCode,
    error: isSuccess ? null : 'http_status',
    snippet: isText ? snippetOf(body) : null,
    retryAfterMs: isSuccess ? null : parseRetryAfter(headers['retry-after'], nowMs),
  };
}

function resultOfFailure({ error }: NoAnswer): Outcome {
  return { statusCode: null, error: reasonOf(error, 'invalid_response'), snippet: null, retryAfterMs: null };
}
