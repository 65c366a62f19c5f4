/**
 * Runs the test files that the parent assigns, one after the other, each as a run of mocha. Modules stay loaded between files.
 * A file sees what it would see if mocha ran the whole suite, but not the files that another worker of the suite runs.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../layout.ts';
import { messageReporter } from './reporter.ts';
import type { TestMessage } from './reporter.ts';

/** What the parent sends: the next file, or null when there is none. */
export interface Assignment {
  readonly file: string | null;
}

const { default: Runs } = (await import(pathToFileURL(join(ROOT, 'node_modules/mocha/index.js')).href)) as {
  default: new (options: Mocha.MochaOptions) => Mocha;
};
const settings = JSON.parse(readFileSync(join(ROOT, '.mocharc.json'), 'utf8')) as Record<string, unknown>;
const [grep] = process.argv.slice(2);

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
    send({ type: 'fail', title: file, text: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    send({ type: 'end' });
    return;
  }
  mocha.run(() => mocha.dispose());
}

process.on('message', ({ file }: Assignment) => {
  // Without the channel, the process ends when nothing of its tests is open.
  if (file === null) process.disconnect?.();
  else void run(file);
});
// Mocha does so while it runs tests: it ignores rejections that belong to no test.
process.on('unhandledRejection', () => {});
send({ type: 'end' });
