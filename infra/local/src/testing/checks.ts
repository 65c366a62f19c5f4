/** The static checks, cheap first: what can be said about the code without running it. */
import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { ROOT } from '../layout.ts';

export interface Check {
  readonly name: string;
  readonly promise: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
}

const BIN = join(ROOT, 'node_modules/.bin');
/** turbo starts each task with pnpm, which only npx can bring along. */
const PNPM = ['-y', 'pnpm@12.21.0', 'exec'];
const TIMEOUT_MS = 300_000;

export const STATIC_CHECKS: readonly Check[] = [
  {
    name: 'format',
    promise: 'every file is formatted (npm run format does it)',
    command: join(BIN, 'oxfmt'),
    args: ['--check', '.'],
  },
  { name: 'boundaries', promise: 'no service imports another', command: join(BIN, 'turbo'), args: ['boundaries'] },
  { name: 'lint', promise: 'the lint rules hold, types considered', command: join(BIN, 'oxlint'), args: [] },
  {
    name: 'unused',
    promise: 'no file, export or dependency without a use',
    command: join(BIN, 'knip'),
    args: ['--no-progress', '--no-config-hints'],
  },
  {
    name: 'types',
    promise: 'every package compiles',
    command: 'npx',
    args: [...PNPM, 'turbo', 'run', 'types', '--continue', '--output-logs=errors-only'],
  },
];

/** In `npm test` this one runs as the suite it is. */
export const TIDY_CHECK: Check = {
  name: 'tidy',
  promise: 'the house rules no linter knows hold',
  command: process.execPath,
  args: [join(ROOT, 'node_modules/mocha/bin/mocha.js'), '--reporter', 'dot'],
  cwd: join(ROOT, 'infra/tidy'),
};

interface CheckResult {
  readonly ok: boolean;
  readonly output: string;
  readonly seconds: number;
}

function runCheck({ command, args, cwd = ROOT }: Check): Promise<CheckResult> {
  const since = Date.now();
  const env = {
    ...process.env,
    PATH: `${BIN}${delimiter}${process.env['PATH'] ?? ''}`,
    TURBO_TELEMETRY_DISABLED: '1',
    TURBO_NO_UPDATE_NOTIFIER: '1',
    DO_NOT_TRACK: '1',
    CI: 'true',
    NO_COLOR: '1',
  };
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: TIMEOUT_MS });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    const end = (ok: boolean) =>
      resolve({ ok, output: stripVTControlCharacters(output), seconds: (Date.now() - since) / 1000 });
    child.on('error', (error) => {
      output += error.message;
      end(false);
    });
    child.on('close', (code) => end(code === 0));
  });
}

/** Runs them one after the other and says each as it ends. Returns how many held. */
export async function runChecks(checks: readonly Check[], say: (text: string) => void): Promise<number> {
  let held = 0;
  for (const check of checks) {
    const { ok, output, seconds } = await runCheck(check);
    if (ok) held += 1;
    say(`  ${ok ? '✓' : '✗'} ${check.name.padEnd(12)} ${seconds.toFixed(1).padStart(5)} s   ${check.promise}`);
    if (!ok) say(indent(output.trim()));
  }
  return held;
}

function indent(text: string): string {
  return text.replace(/^/gm, '      ');
}
