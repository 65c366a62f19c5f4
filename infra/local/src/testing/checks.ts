/** The static checks, the fast ones first. */
import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { ROOT } from '../layout.ts';
import { newProcessorSeconds, processorText } from './processors.ts';

export interface Check {
  readonly name: string;
  readonly rule: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
}

const BIN = join(ROOT, 'node_modules/.bin');
/** A check that hangs. On a busy machine they take several times as long as on a quiet one. */
const TIMEOUT_MS = 900_000;

export const STATIC_CHECKS: readonly Check[] = [
  {
    name: 'format',
    rule: 'every file is formatted (to fix: npm run format)',
    command: join(BIN, 'oxfmt'),
    args: ['--check', '.'],
  },
  { name: 'boundaries', rule: 'no service imports another', command: join(BIN, 'turbo'), args: ['boundaries'] },
  { name: 'lint', rule: 'the code follows the lint rules', command: join(BIN, 'oxlint'), args: [] },
  {
    name: 'unused',
    rule: 'every file, export and dependency is used',
    command: join(BIN, 'knip'),
    args: ['--no-progress', '--no-config-hints'],
  },
  {
    name: 'types',
    rule: 'every package compiles',
    command: process.execPath,
    args: [join(ROOT, 'infra/local/src/testing/types.ts')],
  },
];

/** `npm test` runs this as a suite. */
export const TIDY_CHECK: Check = {
  name: 'tidy',
  rule: 'the repository follows the house rules',
  command: process.execPath,
  args: [join(ROOT, 'node_modules/mocha/bin/mocha.js'), '--reporter', 'dot'],
  cwd: join(ROOT, 'infra/tidy'),
};

interface CheckResult {
  readonly ok: boolean;
  readonly output: string;
  readonly seconds: number;
  readonly cost: string;
}

function runCheck({ command, args, cwd = ROOT }: Check, settings: NodeJS.ProcessEnv): Promise<CheckResult> {
  const since = Date.now();
  const env = {
    ...process.env,
    ...settings,
    PATH: `${BIN}${delimiter}${process.env['PATH'] ?? ''}`,
    TURBO_TELEMETRY_DISABLED: '1',
    TURBO_NO_UPDATE_NOTIFIER: '1',
    DO_NOT_TRACK: '1',
    CI: 'true',
    NO_COLOR: '1',
    // The compiler and the linter are programs in Go, whose collector takes a quarter of their time unless they may use more memory.
    GOGC: 'off',
    GOMEMLIMIT: '2GiB',
  };
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: TIMEOUT_MS });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    const end = (ok: boolean) => {
      const [seconds, cost] = [(Date.now() - since) / 1000, processorText(newProcessorSeconds())];
      resolve({ ok, output: stripVTControlCharacters(output), seconds, cost });
    };
    child.on('error', (error) => {
      output += error.message;
      end(false);
    });
    child.on('close', (code) => end(code === 0));
  });
}

/** In a tenth less processor time, but not sooner: for checks beside work that uses every processor. */
export const ON_ONE_PROCESSOR = { GOMAXPROCS: '1' };

/** Runs one check after another and prints each result. Resolves to the number that passed. */
export async function runChecks(
  checks: readonly Check[],
  print: (text: string) => void,
  settings: NodeJS.ProcessEnv = {},
): Promise<number> {
  let passed = 0;
  for (const check of checks) {
    const { ok, output, seconds, cost } = await runCheck(check, settings);
    if (ok) passed += 1;
    print(`  ${ok ? '✓' : '✗'} ${check.name.padEnd(26)} ${seconds.toFixed(1).padStart(6)} s ${cost}   ${check.rule}`);
    if (!ok) print(indent(output.trim()));
  }
  return passed;
}

function indent(text: string): string {
  return text.replace(/^/gm, '      ');
}
