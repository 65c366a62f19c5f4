export { logListening } from './log-listening.ts';
export { openFilesMax } from './files.ts';
export { startService } from './service.ts';
export type { Opened, RunningService, ServiceContext, ServiceDefinition } from './service.ts';
