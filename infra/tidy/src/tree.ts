import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

/** What a check looks at: paths from the root with forward slashes, and their text. */
export interface Tree {
  readonly files: readonly string[];
  /** Empty text for a path that is not in the tree. */
  read(path: string): string;
}

/** What is wrong and what to do about it. */
export interface Finding {
  readonly path: string;
  readonly line?: number;
  readonly message: string;
}

export const ROOT = join(import.meta.dirname, '../../..');

/** Tests of the checks plant violations on purpose. */
const PLANTED = /^infra\/tidy\/src\/checks\/[^/]+\.test\.ts$/;

/**
 * The repository as git would commit it: tracked files plus new ones that are not ignored, so that a violation shows
 * before the commit that would make it public. In an unpacked archive, or without git: what `.gitignore` does not name.
 */
export function repositoryTree(): Tree {
  const listed = git('ls-files', '--cached', '--others', '--exclude-standard') ?? notIgnored();
  const files = listed.filter((path) => !PLANTED.test(path) && isFile(path));
  return treeOf(new Map(files.map((path) => [path, () => readFileSync(join(ROOT, path), 'utf8')])));
}

/** False for what is deleted and not yet committed, and for a link to a folder. */
function isFile(path: string): boolean {
  return statSync(join(ROOT, path), { throwIfNoEntry: false })?.isFile() === true;
}

/** A tree in memory, for proving a check. */
export function plantedTree(files: Readonly<Record<string, string>>): Tree {
  return treeOf(new Map(Object.entries(files).map(([path, text]) => [path, () => text])));
}

/** Files that are tracked although `.gitignore` names them. */
export function trackedButIgnored(): readonly string[] {
  return git('ls-files', '--cached', '--ignored', '--exclude-standard') ?? [];
}

function notIgnored(): string[] {
  const ignored = new Set(['.git', ...linesOf('.gitignore').map((line) => line.replace(/\/$/, ''))]);
  const names = [...ignored].filter((line) => !line.startsWith('*'));
  const endings = [...ignored].filter((line) => line.startsWith('*.')).map((line) => line.slice(1));
  return globSync(['**/*', '**/.*', '.ci/*'], {
    cwd: ROOT,
    exclude: (path) => names.includes(basename(path)) || endings.some((ending) => path.endsWith(ending)),
  });
}

function linesOf(file: string): string[] {
  return readFileSync(join(ROOT, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** Line numbers count from 1, as editors do. */
export function eachLine(
  tree: Tree,
  paths: readonly string[],
  look: (line: string, at: { path: string; line: number }) => void,
): void {
  for (const path of paths) {
    for (const [index, line] of tree.read(path).split('\n').entries()) look(line, { path, line: index + 1 });
  }
}

export function describeFinding({ path, line, message }: Finding): string {
  return line === undefined ? `${path}: ${message}` : `${path}:${line}: ${message}`;
}

function treeOf(readers: ReadonlyMap<string, () => string>): Tree {
  const texts = new Map<string, string>();
  return {
    files: [...readers.keys()].toSorted(),
    read(path) {
      const text = texts.get(path) ?? readers.get(path)?.() ?? '';
      texts.set(path, text);
      return text;
    },
  };
}

/** Null without git, or without tracked files. */
function git(...args: string[]): string[] | null {
  const { status, stdout } = spawnSync('git', ['-C', ROOT, ...args, '-z'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return status === 0 ? stdout.split('\0').filter((path) => path !== '') : null;
}
