export type { Build } from './build.ts';
export { logListening } from './log-listening.ts';
export { openFilesMax } from './files.ts';
export { Readiness } from './readiness.ts';
export type { ReadinessCheck } from './readiness.ts';
export { SetupError } from './setup-error.ts';
export { startService } from './service.ts';
export type { Environment, Opened, RunningService, ServiceContext, ServiceDefinition } from './service.ts';
