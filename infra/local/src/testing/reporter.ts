/** Mocha's results as messages to the process that runs the suites; silent, because that one does the talking. */

/** What a suite tells while it runs. */
export type TestMessage =
  | { readonly type: 'pass'; readonly title: string; readonly ms: number }
  /** For want of something this machine has not. */
  | { readonly type: 'skip'; readonly title: string }
  | { readonly type: 'fail'; readonly title: string; readonly text: string }
  | { readonly type: 'end' };

/**
 * Mocha calls it with `new`, for which a function will do.
 */
function messageReporter(runner: Mocha.Runner): void {
  const tell = (message: TestMessage) => process.send?.(message);
  runner.on('pass', (test: Mocha.Test) => tell({ type: 'pass', title: titleOf(test), ms: test.duration ?? 0 }));
  runner.on('fail', (test: Mocha.Test, error: unknown) =>
    tell({ type: 'fail', title: titleOf(test), text: textOf(error) }),
  );
  runner.on('pending', (test: Mocha.Test) => tell(skipped(test)));
  runner.once('end', () => tell({ type: 'end' }));
}

/**
 * A test may find out that the machine has not what it needs (`this.skip()`); then it is counted as skipped. One that is
 * written never to run (`it.skip`, `describe.skip`, no body) is a promise nobody keeps, and fails.
 */
function skipped(test: Mocha.Test): TestMessage {
  const title = titleOf(test);
  if (typeof test.fn === 'function') return { type: 'skip', title };
  return { type: 'fail', title, text: 'It is written to be skipped: let it run, or take it out.' };
}

function titleOf(test: Mocha.Test): string {
  return test.titlePath().join(' › ');
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\ncaused by ${textOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}

// Mocha loads reporters with `require`: this is the name under which a module says what that gives.
export {
  /** @public */
  messageReporter as 'module.exports',
};
