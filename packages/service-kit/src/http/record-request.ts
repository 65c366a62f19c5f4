import type { Span } from '@opentelemetry/api';
import { meta, type Contract, type Fault } from '@wts/contracts';
import type { Logger } from '../observe/logger.ts';
import type { RequestMetrics } from '../observe/metrics.ts';
import { unmatchedPath } from '../observe/scrub.ts';
import { endRequestSpan, traceFields } from '../observe/tracing.ts';

export type Route = Pick<Contract, 'id' | 'path'>;

export type RequestDetails = Readonly<Record<string, unknown>>;

/** One request that has ended, at the gateway or at a service. */
export interface RequestRecord {
  readonly method: string;
  /** The contract that served it; null where none did. */
  readonly route: Route | null;
  readonly status: number;
  readonly startedAt: number;
  readonly requestId: string;
  readonly userId: string | undefined;
  readonly failure: Fault | null;
  readonly details?: RequestDetails | null;
  readonly span: Span | null;
  /** False when the client disconnected before the end of the reply. */
  readonly isComplete: boolean;
  /** Without its query, which may hold a token. */
  readonly path: string;
  /** The address of the client, at the gateway. */
  readonly client?: string;
}

interface Records {
  readonly log: Logger;
  readonly requests: RequestMetrics;
}

/** Most requests of an idle system are probes, so they are logged as `debug`. */
const PROBES: ReadonlySet<string> = new Set([meta.health.id, meta.ready.id]);

/** Writes the metric, the end of the span and the one log line of a request. */
export function recordRequest({ log, requests }: Records, record: RequestRecord): void {
  const { method, route, status, failure, span } = record;
  const name = route?.id ?? 'unmatched';
  const durationMs = performance.now() - record.startedAt;
  requests.observe(name, method, status, durationMs / 1000);
  if (failure !== null) requests.refused(failure.code);
  if (span !== null) endRequestSpan(span, { method, route: route?.path ?? null, status, code: failure?.code });
  const level = levelOf(failure, name);
  if (!log.isLevelEnabled(level)) return;
  const line = {
    method,
    route: name,
    status,
    durationMs: Math.round(durationMs * 1000) / 1000,
    requestId: record.requestId,
    // The end of an answer is part of no span.
    ...(span === null ? undefined : traceFields(span.spanContext())),
    userId: record.userId,
    code: failure?.code,
    ...record.details,
    err: failure !== null && failure.status >= 500 ? (failure.cause ?? bugOf(failure)) : undefined,
    client: record.client,
    aborted: record.isComplete ? undefined : true,
    path: route === null ? unmatchedPath(record.path) : undefined,
  };
  log[level](line, 'request');
}

/** `error` for a bug; `warn` for an unavailable service, which may recover by itself. */
function levelOf(failure: Fault | null, route: string): 'debug' | 'info' | 'warn' | 'error' {
  if (failure?.code === 'internal') return 'error';
  if (PROBES.has(route)) return 'debug';
  return failure !== null && failure.status >= 500 ? 'warn' : 'info';
}

function bugOf(failure: Fault): Fault | undefined {
  return failure.code === 'internal' ? failure : undefined;
}
