import { UserError } from '@wts/local';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** The files of the commit that is checked out, without what was changed since, so that the same commit gives the same image. */
export interface Checkout {
  readonly folder: string;
  readonly version: string;
  readonly commit: string;
  /** The time of the commit. */
  readonly created: string;
}

const ROOT = resolve(import.meta.dirname, '../../..');

export async function openCheckout(stack: AsyncDisposableStack): Promise<Checkout> {
  const [commit = '', time = ''] = git('log', '-1', '--abbrev=12', '--format=%h %cI').split(' ');
  if (git('status', '--porcelain') !== '')
    console.log(`Changes that are not committed are left out: the images are of ${commit}.`);
  const folder = mkdtempSync(join(tmpdir(), 'wts-images-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const files = execFileSync('git', ['archive', '--format=tar', 'HEAD'], { cwd: ROOT, maxBuffer: 1e9 });
  execFileSync('tar', ['-x', '-C', folder], { input: files });
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { folder, version, commit, created: new Date(time).toISOString() };
}

function git(...args: readonly string[]): string {
  try {
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  } catch (cause) {
    throw new UserError('Images are built from a commit, and here is no git repository.', { cause });
  }
}
