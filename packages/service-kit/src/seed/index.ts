export { runSeed } from './seed.ts';
