import { UserError } from './user-error.ts';

/** What a task that runs until it is stopped knows of its end. */
export interface TaskLife {
  /** Aborted when the stop begins. */
  readonly stopping: AbortSignal;
  /** Stops the task, which prints the error and exits with 1. */
  readonly fail: (error: unknown) => void;
}

/** An exit code, or 'until stopped': the task runs until the user stops it, and then exits with 0. */
type Outcome = number | 'until stopped';

/**
 * Runs a task until it is done or stopped, cleans up, and exits. SIGINT, SIGTERM, SIGHUP and the end of the parent process stop
 * it (the bootstrap script keeps an IPC channel open for that). A second signal, at least a second later, exits without
 * clean-up.
 */
export async function runTask(work: (stack: AsyncDisposableStack, life: TaskLife) => Promise<Outcome>): Promise<never> {
  const { promise: stopped, resolve, reject } = Promise.withResolvers<string>();
  // A task that has its own exit code by then does not wait for it.
  stopped.catch(() => {});
  const stopping = new AbortController();
  const stop = (reason: string) => {
    stopping.abort();
    resolve(reason);
  };
  let firstAt: number | null = null;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // A terminal and the bootstrap script may both deliver the same Ctrl-C.
      if (firstAt !== null && Date.now() - firstAt > 1_000) process.exit(130);
      firstAt ??= Date.now();
      stop(signal);
    });
  }
  const fail = (error: unknown) => {
    firstAt ??= Date.now();
    stopping.abort();
    reject(error);
  };
  process.on('disconnect', () => stop('the parent process ended'));
  // A closed output (`npm start | head`) must not prevent the clean-up.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => stop('the output was closed'));

  const stack = new AsyncDisposableStack();
  let code: number;
  try {
    const interrupted = stopped.then((reason) => (reason === 'SIGINT' ? 130 : 143));
    const outcome = await Promise.race([work(stack, { stopping: stopping.signal, fail }), interrupted]);
    if (outcome === 'until stopped') console.log(`\nStopping (${await stopped}) ...`);
    code = outcome === 'until stopped' ? 0 : outcome;
  } catch (error) {
    code = 1;
    printError(error);
  }
  stopping.abort();
  try {
    await stack.disposeAsync();
  } catch (error) {
    code = code === 0 ? 1 : code;
    printError(error);
  }
  process.exit(code);
}

function printError(error: unknown): void {
  const { code } = error as { code?: string };
  if (error instanceof UserError) console.error(`\n${error.message}\n`);
  else if (code === 'ENOSPC' || code === 'EDQUOT')
    console.error(`\nThe disk is full. Free some space and start again.\n`);
  else console.error(error);
}
