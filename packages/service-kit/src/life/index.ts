export { logListening } from './log-listening.ts';
export { openFilesMax } from './files.ts';
export { Readiness } from './readiness.ts';
export type { ReadinessCheck } from './readiness.ts';
export { startRounds } from './rounds.ts';
export type { Rounds } from './rounds.ts';
export { run } from './run.ts';
export { startService } from './service.ts';
export type { Environment, Opened, RunningService, ServiceContext, ServiceDefinition } from './service.ts';
