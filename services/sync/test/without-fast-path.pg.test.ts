import { globSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { useFastPath } from './test-engines.ts';

/*
 * Runs suites of `src/commit` again with the fast path turned off, because both ways give the same guarantees. The query in
 * the import makes Node load each file again, which declares its suites again. By default those of order, races and
 * idempotency run, where the two ways could differ; `WITHOUT_FAST_PATH=all npm test -- --only services/sync` runs all.
 */

const SUITES = ['repeated-unit', 'revoked-access', 'lost-connection', 'order', 'races'];
/** The suite that tests the fast path itself. */
const FAST_PATH_ONLY = 'fast-path';

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
const all = globSync('*.pg.test.ts', { cwd: folder }).map((file) => file.replace('.pg.test.ts', ''));
const chosen = process.env['WITHOUT_FAST_PATH'] === 'all' ? all : SUITES;
for (const suite of chosen) {
  if (suite === FAST_PATH_ONLY) continue;
  await import(`${pathToFileURL(`${folder}/${suite}.pg.test.ts`).href}?without-fast-path`);
}
globalThis.describe = declare;
