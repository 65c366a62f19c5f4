import { globSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { useFastPath } from './stage.ts';

/*
 * Every suite of `src/commit` once more, with the fast path turned off, because both ways give the same guarantees. The
 * query makes Node load each file again, which declares its suites again.
 */

/** Suites of what only the fast path does. */
const FAST_PATH_ONLY = 'fast-path.pg.test.ts';

const { describe: declare } = globalThis;
const declareWithoutFastPath = ((title: string, suite: (this: Mocha.Suite) => void) =>
  declare(`${title}, without the fast path`, function () {
    before(() => useFastPath(false));
    after(() => useFastPath(true));
    globalThis.describe = declare;
    suite.call(this);
    globalThis.describe = declareWithoutFastPath;
  })) as Mocha.SuiteFunction;

globalThis.describe = declareWithoutFastPath;
const folder = `${import.meta.dirname}/../src/commit`;
for (const file of globSync('*.pg.test.ts', { cwd: folder })) {
  if (file !== FAST_PATH_ONLY) await import(`${pathToFileURL(`${folder}/${file}`).href}?without-fast-path`);
}
globalThis.describe = declare;
