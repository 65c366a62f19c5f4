export { eachByItself } from './each-by-itself.ts';
export { every, type BackgroundWork, type Run, type RunResult } from './every.ts';
export type { BackgroundContext } from './work-state.ts';
