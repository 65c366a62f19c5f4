/**
 * Runs the test files that the parent assigns, one after the other, each as a run of mocha. Modules stay loaded between files.
 * A file sees what it would see if mocha ran the whole suite, but not the files that another worker of the suite runs.
 */
import { readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../layout.ts';
import { messageReporter, type TestMessage } from './reporter.ts';
import { describeOpen, rememberOrigins } from './still-open.ts';

/** What the parent sends: the next file, or null when there is none. */
export interface Assignment {
  readonly file: string | null;
}

const { default: Runs } = (await import(pathToFileURL(join(ROOT, 'node_modules/mocha/index.js')).href)) as {
  default: new (options: Mocha.MochaOptions) => Mocha;
};
const settings = JSON.parse(readFileSync(join(ROOT, '.mocharc.json'), 'utf8')) as Record<string, unknown>;
const [grep] = process.argv.slice(2);

const atEnd: Mocha.Hook[] = [];
const send = (message: TestMessage): void => void process.send?.(message);

async function run(file: string): Promise<void> {
  const mocha = new Runs({
    timeout: settings['timeout'] as number,
    forbidOnly: settings['forbid-only'] as boolean,
    reporter: messageReporter as unknown as Mocha.ReporterConstructor,
    ...(grep === undefined ? {} : { grep }),
  });
  mocha.addFile(file);
  try {
    await mocha.loadFilesAsync();
  } catch (error) {
    fail(file, error);
    send({ type: 'end' });
    return;
  }
  // For other workers that start meanwhile. Node itself writes them when this process ends.
  flushCompileCache();
  // A module that files share, and that closes what it opened in an `after` outside any suite, is loaded for the first only.
  const root = mocha.suite as unknown as { _afterAll: Mocha.Hook[] };
  atEnd.push(...root._afterAll);
  root._afterAll = [];
  mocha.run(() => mocha.dispose());
}

async function finish(): Promise<void> {
  for (const { fn } of atEnd) {
    try {
      await (fn as Mocha.AsyncFunc | undefined)?.call({} as Mocha.Context);
    } catch (error) {
      fail('(after all files)', error);
    }
  }
  // Without the channel, the process ends when nothing of its tests is open.
  process.disconnect?.();
}

function fail(title: string, error: unknown): void {
  send({ type: 'fail', title, text: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

process.on('message', ({ file }: Assignment) => {
  void (file === null ? finish() : run(file));
});
// The parent sends it before it ends a worker that should have exited.
process.on('SIGUSR2', () => console.error(describeOpen()));
rememberOrigins();
/** Mocha emits each of them a second time. */
const rejected = new WeakSet<Promise<unknown>>();
// A service ends by one, so a test that only continues does not show that the service would.
process.on('unhandledRejection', (reason, promise) => {
  if (!rejected.has(promise)) fail('(a rejection that nothing handles)', reason);
  rejected.add(promise);
});
send({ type: 'end' });
