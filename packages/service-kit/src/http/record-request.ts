import type { Span } from '@opentelemetry/api';
import type { Fault } from '@wts/contracts';
import { meta } from '@wts/contracts';
import type { Logger } from '../observe/logger.ts';
import type { RequestMetrics } from '../observe/metrics.ts';
import { unmatchedPath } from '../observe/scrub.ts';
import { endRequestSpan } from '../observe/tracing.ts';

/** One request that is over, at the gateway or at a service. */
export interface RequestRecord {
  readonly method: string;
  /** Id of the contract that answered; null where none did. */
  readonly route: string | null;
  readonly status: number;
  readonly startedAt: number;
  readonly requestId: string;
  readonly userId: string | undefined;
  readonly failure: Fault | null;
  readonly span: Span | null;
  /** False when the client left before it had the whole answer. */
  readonly isComplete: boolean;
  /** Without its query, which may hold a token. */
  readonly path: string;
  /** Reads the address of the client, where it is known. */
  readonly client?: () => string;
}

interface Records {
  readonly log: Logger;
  readonly requests: RequestMetrics;
}

/** Probes are most requests of an idle system. */
const PROBES: ReadonlySet<string> = new Set([meta.health.id, meta.ready.id]);

/** Writes the metric, the end of the span and the one log line of a request. */
export function recordRequest({ log, requests }: Records, record: RequestRecord): void {
  const { method, route, status, failure, span } = record;
  const name = route ?? 'unmatched';
  const durationMs = performance.now() - record.startedAt;
  requests.observe(name, method, status, durationMs / 1000);
  if (span !== null) endRequestSpan(span, name, method, status);
  const level = levelOf(failure, name);
  if (!log.isLevelEnabled(level)) return;
  const line = {
    method,
    route: name,
    status,
    durationMs: Math.round(durationMs * 1000) / 1000,
    requestId: record.requestId,
    userId: record.userId,
    code: failure?.code,
    err: failure !== null && failure.status >= 500 ? (failure.cause ?? bugOf(failure)) : undefined,
    client: record.client?.(),
    aborted: record.isComplete ? undefined : true,
    path: route === null ? unmatchedPath(record.path) : undefined,
  };
  log[level](line, 'request');
}

/** A bug needs an engineer; a service that is away comes back by itself, and probes of it say so all the time. */
function levelOf(failure: Fault | null, route: string): 'debug' | 'info' | 'warn' | 'error' {
  if (failure?.code === 'internal') return 'error';
  if (PROBES.has(route)) return 'debug';
  return failure !== null && failure.status >= 500 ? 'warn' : 'info';
}

function bugOf(failure: Fault): Fault | undefined {
  return failure.code === 'internal' ? failure : undefined;
}
