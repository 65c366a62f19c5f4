import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isTypeScript } from '../files.ts';
import type { Finding, Tree } from '../tree.ts';

const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 70;
const README_LINES_MAX = 60;

/** A file that does not fit in the head has more than one subject. */
export function longFiles(tree: Tree): Finding[] {
  return tree.files
    .filter((path) => /\.(ts|mjs)$/.test(path))
    .flatMap((path) => {
      const lines = lineCount(tree.read(path));
      if (lines <= FILE_LINES_MAX) return [];
      return [{ path, message: `${lines} lines, at most ${FILE_LINES_MAX}: split it by subject` }];
    });
}

/** Every package, service and infra folder has a README; that of the root may be longer. */
export function readmes(tree: Tree): Finding[] {
  const folders = new Set(
    tree.files.flatMap((path) => /^((?:packages|services|infra)\/[^/]+|test-e2e)\//.exec(path)?.[1] ?? []),
  );
  const missing = ['.', ...folders].flatMap((folder): Finding[] => {
    const path = folder === '.' ? 'README.md' : `${folder}/README.md`;
    if (tree.files.includes(path)) return [];
    return [{ path, message: 'missing: say what the folder owns, promises and needs, and where to look first' }];
  });
  const long = tree.files
    .filter((path) => path.endsWith('/README.md'))
    .flatMap((path): Finding[] => {
      const lines = lineCount(tree.read(path));
      if (lines <= README_LINES_MAX) return [];
      return [
        {
          path,
          message: `${lines} lines, at most ${README_LINES_MAX}: move details beside the code or to infra/decisions`,
        },
      ];
    });
  return [...missing, ...long];
}

interface Diagnostic {
  readonly code?: string;
  readonly filename: string;
  readonly message: string;
  readonly labels: readonly { readonly span: { readonly line: number } }[];
}

/** The linter measures; `describe` blocks are exempt because they are chapters, not functions. Needs files on disk. */
export function longFunctions(tree: Tree, root: string): Finding[] {
  const paths = tree.files.filter((path) => isTypeScript(path));
  return paths.length === 0
    ? []
    : measure(paths, root).flatMap(({ filename, message, labels }) => {
        const line = labels[0]?.span.line ?? 1;
        const opening = readFileSync(join(root, filename), 'utf8').split('\n')[line - 1] ?? '';
        if (/^\s*describe(\.\w+)?\(/.test(opening)) return [];
        return [{ path: filename, line, message: `${message} Give each step a name.` }];
      });
}

function measure(paths: readonly string[], root: string): readonly Diagnostic[] {
  const scratch = mkdtempSync(join(tmpdir(), 'tidy-'));
  try {
    const config = join(scratch, 'oxlintrc.json');
    const rule = ['error', { max: FUNCTION_LINES_MAX, IIFEs: true }];
    writeFileSync(
      config,
      JSON.stringify({ plugins: [], categories: { correctness: 'off' }, rules: { 'max-lines-per-function': rule } }),
    );
    const bin = fileURLToPath(new URL('bin/oxlint', import.meta.resolve('oxlint/package.json')));
    const args = [bin, '--config', config, '--disable-nested-config', '--format', 'json', ...paths];
    return diagnosticsOf(runNode(args, root));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** The linter exits 1 when it finds something: that is an answer, not a failure. */
function runNode(args: readonly string[], cwd: string): string {
  try {
    return execFileSync(process.execPath, args, {
      cwd,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  } catch (error) {
    if (error instanceof Error && 'stdout' in error && typeof error.stdout === 'string' && error.stdout !== '')
      return error.stdout;
    throw error;
  }
}

function diagnosticsOf(json: string): readonly Diagnostic[] {
  const { diagnostics } = JSON.parse(json) as { diagnostics: readonly Diagnostic[] };
  // A file that does not parse is for the linter proper to report.
  return diagnostics.filter(({ code }) => code?.includes('max-lines-per-function') === true);
}

function lineCount(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}
