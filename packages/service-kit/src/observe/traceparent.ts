import { isSpanContextValid, type SpanContext } from '@opentelemetry/api';

/** The header of W3C Trace Context, of this version and of later ones, which may add parts. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

export function parseTraceparent(header: string | string[] | undefined): SpanContext | null {
  if (typeof header !== 'string') return null;
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(header) ?? [];
  const found = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return isSpanContextValid(found) ? found : null;
}

export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`;
}
