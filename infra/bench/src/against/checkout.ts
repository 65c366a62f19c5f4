import { LOCAL, UserError } from '@wts/local';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const exec = promisify(execFile);
const ROOT = dirname(LOCAL);
const FOLDER = /^against-(\d+)$/;
/** The commit of the working copy is in no branch, so its author does not matter. */
const AUTHOR = {
  GIT_AUTHOR_NAME: 'bench',
  GIT_AUTHOR_EMAIL: 'bench@localhost',
  GIT_COMMITTER_NAME: 'bench',
  GIT_COMMITTER_EMAIL: 'bench@localhost',
} as const;

export interface CheckOuts {
  readonly ours: string;
  readonly theirs: string;
}

/** The id of a commit of this clone. */
export async function commitOf(name: string): Promise<string> {
  try {
    return await git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]);
  } catch {
    throw new UserError(
      `There is no commit "${name}" in ${ROOT}.\nRun "git log --oneline" to see the commits; in a clone without its history, run "git fetch --unshallow" first.`,
    );
  }
}

/**
 * Checks out the working copy as it is, with changes that are not committed, and another commit, each into a folder of its own
 * below `.local`. The stack removes both folders, and the next run those of a run that was killed.
 */
export async function checkOut(stack: AsyncDisposableStack, theirs: string): Promise<CheckOuts> {
  for (const name of leftovers()) await remove(join(LOCAL, name));
  const folder = join(LOCAL, `against-${process.pid}`);
  await mkdir(folder, { recursive: true });
  stack.defer(() => remove(folder));
  const interrupted = new AbortController();
  // A checkout must end before its folder is removed.
  stack.defer(() => interrupted.abort());
  const { signal } = interrupted;
  const folders = { ours: join(folder, 'ours'), theirs: join(folder, 'theirs') };
  const commits = { ours: await commitWorkingCopy(join(folder, 'index')), theirs };
  for (const who of ['ours', 'theirs'] as const)
    await git(['worktree', 'add', '--detach', folders[who], commits[who]], { signal });
  return folders;
}

/** Writes neither the index nor a branch of the clone. */
async function commitWorkingCopy(index: string): Promise<string> {
  const env = { ...process.env, ...AUTHOR, GIT_INDEX_FILE: index };
  await git(['read-tree', 'HEAD'], { env });
  await git(['add', '--all'], { env });
  const tree = await git(['write-tree'], { env });
  return git(['commit-tree', tree, '-p', 'HEAD', '-m', 'working copy'], { env });
}

function leftovers(): readonly string[] {
  const isRunning = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EPERM';
    }
  };
  try {
    return readdirSync(LOCAL).filter((name) => {
      const pid = Number(FOLDER.exec(name)?.[1] ?? 0);
      return pid > 0 && !isRunning(pid);
    });
  } catch {
    return [];
  }
}

async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  await git(['worktree', 'prune']);
}

async function git(
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly signal?: AbortSignal } = {},
): Promise<string> {
  const { stdout } = await exec('git', ['-c', 'core.hooksPath=/dev/null', ...args], { cwd: ROOT, ...options });
  return stdout.trim();
}
