export { eachByItself } from './each-by-itself.ts';
export { every } from './every.ts';
export type { BackgroundWork, Run, RunResult } from './every.ts';
export type { BackgroundContext } from './work-state.ts';
