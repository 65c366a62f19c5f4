export { every } from './every.ts';
export type { BackgroundContext, BackgroundWork, Run, RunResult } from './every.ts';
