/**
 * PostgreSQL refuses to run as root, and initdb refuses a user without a name. For root (containers, CI) and for a user without
 * a name the server runs in a user namespace, in which this user is "nobody": files keep their owner. Where the system forbids
 * namespaces, root runs the server as the real user "nobody", with data outside the repository.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { repositoryHash } from '../layout.ts';
import { UserError } from '../user-error.ts';
import type { PostgresPrograms } from './postgres-programs.ts';

const NOBODY = 65_534;
const PREFIX = ['--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`, '--'];

export interface Unprivileged {
  readonly kind: 'self' | 'namespace' | 'setuid';
  readonly env: NodeJS.ProcessEnv;
  readonly command: (
    program: string,
    args: readonly string[],
  ) => { readonly command: string; readonly args: readonly string[] };
  /** Options of `spawn`: the user and group, when not this user. */
  readonly as: { readonly uid?: number; readonly gid?: number };
  /** The directory to use instead of `directory`, to which this user has access. */
  readonly place: (directory: string) => string;
  /** Makes this user the owner of a file or directory. */
  readonly own: (path: string) => void;
}

export function unprivileged({ bin, libraryPath }: PostgresPrograms): Unprivileged {
  const root = process.getuid?.() === 0;
  const direct = (program: string, args: readonly string[]) => ({ command: join(bin, program), args });
  const env = {
    PATH: process.env['PATH'],
    LC_ALL: 'C',
    TZ: 'UTC',
    ...(libraryPath === undefined ? {} : { LD_LIBRARY_PATH: libraryPath }),
  };
  const here = { env, as: {}, place: (directory: string) => directory, own: () => {} };
  if (!root && hasName()) return { kind: 'self', command: direct, ...here };
  if (namespaceWorks(bin, env)) {
    return {
      kind: 'namespace',
      command: (program, args) => ({ command: 'unshare', args: [...PREFIX, join(bin, program), ...args] }),
      ...here,
    };
  }
  if (root) return asNobody(bin, env);
  throw new UserError(
    'PostgreSQL cannot run here: this user id is not in /etc/passwd, and the system forbids user namespaces.\n' +
      'Run as a named user or as root, or set DATABASE_URL to your own PostgreSQL server.',
  );
}

function hasName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}

function namespaceWorks(bin: string, env: NodeJS.ProcessEnv): boolean {
  if (process.platform !== 'linux') return false;
  return (
    spawnSync('unshare', [...PREFIX, join(bin, 'postgres'), '--version'], { env, stdio: 'ignore', timeout: 10_000 })
      .status === 0
  );
}

function asNobody(bin: string, env: NodeJS.ProcessEnv): Unprivileged {
  const uid = idOfNobody('-u');
  const gid = idOfNobody('-g');
  const base = join('/var/tmp', `wts-${repositoryHash()}`);
  mkdirSync(base, { recursive: true, mode: 0o711 });
  const runs = (directory: string) =>
    spawnSync(join(directory, 'postgres'), ['--version'], { uid, gid, env, cwd: '/', stdio: 'ignore', timeout: 10_000 })
      .status === 0;
  const usable = runs(bin) ? bin : copied(dirname(bin), base);
  if (!runs(usable))
    throw new UserError(
      `PostgreSQL does not run as root, and "nobody" cannot run ${usable}/postgres.\nRun as another user, or set DATABASE_URL to your own PostgreSQL server.`,
    );
  return {
    kind: 'setuid',
    env,
    as: { uid, gid },
    command: (program, args) => ({ command: join(usable, program), args }),
    place: (directory) => {
      const placed = join(base, basename(dirname(directory)), basename(directory));
      mkdirSync(dirname(placed), { recursive: true });
      chownSync(dirname(placed), uid, gid);
      chmodSync(dirname(placed), 0o700);
      return placed;
    },
    own: (path) => chownSync(path, uid, gid),
  };
}

/** Copies the programs when the repository is below a directory that only root may enter. */
function copied(native: string, base: string): string {
  const target = join(base, 'postgresql');
  if (!existsSync(join(target, 'bin', 'postgres'))) cpSync(native, target, { recursive: true, verbatimSymlinks: true });
  return join(target, 'bin');
}

function idOfNobody(flag: '-u' | '-g'): number {
  try {
    return Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }).trim());
  } catch {
    return NOBODY;
  }
}
