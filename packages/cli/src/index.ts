export { endProcess, processIo, type Io } from './io.ts';
export { run } from './program/run.ts';
