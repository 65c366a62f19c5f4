import { Refusal } from './refusal.ts';

/** An exit code, or that the task goes on by itself until somebody stops it, which is then no failure. */
type Outcome = number | 'until stopped';

/**
 * The life of a task of this package: it works until it is done or told to stop, cleans up, and leaves with a code.
 * Told to stop means SIGINT, SIGTERM, SIGHUP, or the end of the process that started it (the bootstrap script keeps an
 * IPC channel open for that). A second signal, a second or more after the first, gives up on order.
 */
export async function runTask(work: (stack: AsyncDisposableStack) => Promise<Outcome>): Promise<never> {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<string>();
  let firstAt: number | null = null;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // A terminal and the bootstrap script may both deliver the same Ctrl-C.
      if (firstAt !== null && Date.now() - firstAt > 1_000) process.exit(130);
      firstAt ??= Date.now();
      stop(signal);
    });
  }
  process.on('disconnect', () => stop('its starter is gone'));
  // A reader of our output that went away (`npm start | head`) must not stop the clean-up.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => stop('nobody reads its output'));

  const stack = new AsyncDisposableStack();
  let code: number;
  try {
    const interrupted = stopped.then((reason) => (reason === 'SIGINT' ? 130 : 143));
    const outcome = await Promise.race([work(stack), interrupted]);
    if (outcome === 'until stopped') console.log(`\nStopping (${await stopped}) ...`);
    code = outcome === 'until stopped' ? 0 : outcome;
  } catch (error) {
    code = 1;
    complain(error);
  }
  try {
    await stack.disposeAsync();
  } catch (error) {
    code = code === 0 ? 1 : code;
    complain(error);
  }
  process.exit(code);
}

function complain(error: unknown): void {
  const { code } = error as { code?: string };
  if (error instanceof Refusal) console.error(`\n${error.message}\n`);
  else if (code === 'ENOSPC' || code === 'EDQUOT')
    console.error(`\nThe disk is full: free some space and start again.\n`);
  else console.error(error);
}
