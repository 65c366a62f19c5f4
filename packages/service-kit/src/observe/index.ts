export { createLogger } from './logger.ts';
export type { Logger } from './logger.ts';
export { carryTrace, endRequestSpan, isTracing, traceRequest } from './tracing.ts';
