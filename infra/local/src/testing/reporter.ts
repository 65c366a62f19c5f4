/** Sends mocha's results to the process that runs the suites, which prints them. */

/** A message of a running suite. */
export type TestMessage =
  | { readonly type: 'pass'; readonly title: string; readonly ms: number }
  /** The machine lacks something that the test needs. */
  | { readonly type: 'skip'; readonly title: string }
  | { readonly type: 'fail'; readonly title: string; readonly text: string }
  /** All tests of the file have ended, or the worker has started: it can run a file. */
  | { readonly type: 'end' };

/** Mocha calls it with `new`, which works for a function. */
export function messageReporter(runner: Mocha.Runner): void {
  const send = (message: TestMessage) => process.send?.(message);
  runner.on('pass', (test: Mocha.Test) => send({ type: 'pass', title: titleOf(test), ms: test.duration ?? 0 }));
  runner.on('fail', (test: Mocha.Test, error: unknown) =>
    send({ type: 'fail', title: titleOf(test), text: textOf(error) }),
  );
  runner.on('pending', (test: Mocha.Test) => send(skipped(test)));
  runner.once('end', () => send({ type: 'end' }));
}

/**
 * A test that calls `this.skip()`, because the machine lacks what it needs, counts as skipped. A test that never runs
 * (`it.skip`, `describe.skip`, no body) counts as failed.
 */
function skipped(test: Mocha.Test): TestMessage {
  const title = titleOf(test);
  if (typeof test.fn === 'function') return { type: 'skip', title };
  return { type: 'fail', title, text: 'This test never runs. Remove the skip, or delete the test.' };
}

function titleOf(test: Mocha.Test): string {
  return test.titlePath().join(' › ');
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\ncaused by ${textOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
