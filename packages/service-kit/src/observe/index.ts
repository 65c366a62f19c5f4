export { createLogger } from './logger.ts';
export type { Logger } from './logger.ts';
export { watchGauge } from './metrics.ts';
export { injectTrace, endRequestSpan, isTracing, traceRequest } from './tracing.ts';
