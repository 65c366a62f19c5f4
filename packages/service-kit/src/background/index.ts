export { eachByItself } from './each-by-itself.ts';
export { every } from './every.ts';
export type { BackgroundContext, BackgroundWork, Run, RunResult } from './every.ts';
