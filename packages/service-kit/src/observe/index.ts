export { createLogger, type Logger } from './logger.ts';
export { labelShard, metricsOf, REQUEST_SECONDS } from './metrics.ts';
export { Readiness } from './readiness.ts';
export {
  activeTrace,
  endSpan,
  headerOf,
  inSpan,
  startEntrySpan,
  startLinkedSpan,
  startMessageSpan,
  startSpan,
} from './tracing.ts';
export type { Span, SpanContext } from '@opentelemetry/api';
