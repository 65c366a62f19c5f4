/** What the tests of the whole system compare. */
export { catalog } from './catalog.ts';
export { METRICS } from './files.ts';
