import { LOCAL, fetchDebianPackages, type RunningProcess } from '@wts/local';
import { once } from 'node:events';
import { accessSync, constants, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { eventually } from './eventually.ts';

type PackageTree = Awaited<ReturnType<typeof fetchDebianPackages>>;

/** Finds the first of these programs on the PATH, or else elsewhere. */
export function findProgram(names: readonly string[], elsewhere: readonly string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  return [...candidates, ...elsewhere].find(isExecutable);
}

/** Downloads and unpacks a Debian package on first use. Null, with a warning, when that is not possible. */
async function fetchPackage(name: string): Promise<PackageTree | null> {
  try {
    return await fetchDebianPackages([name], join(LOCAL, 'packages', name));
  } catch (error) {
    process.emitWarning(`No ${name} could be fetched: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

/** Finds a server program: an installed one, or on Debian that of a package. Null without either. */
export async function findServer(
  name: string,
  packageName: string,
): Promise<{ file: string; env: NodeJS.ProcessEnv } | null> {
  // Systems install servers here, but a normal user's PATH lacks these folders.
  const file = findProgram([name], [`/usr/sbin/${name}`, `/usr/local/sbin/${name}`]);
  if (file !== undefined) return { file, env: {} };
  const tree = await fetchPackage(packageName);
  if (tree === null) return null;
  return { file: join(tree.root, 'usr/sbin', name), env: { LD_LIBRARY_PATH: tree.libraryPath } };
}

/** Resolves when the port accepts connections; rejects with the log of the process when it exits before. */
export async function untilAccepting(proxy: RunningProcess, port: number): Promise<void> {
  const accepts = async (): Promise<boolean> => {
    if (proxy.exit !== null) return true;
    const socket = connect({ port, host: '127.0.0.1' });
    try {
      await once(socket, 'connect');
      return true;
    } finally {
      socket.destroy();
    }
  };
  await eventually(accepts);
  if (proxy.exit !== null) throw new Error(`${proxy.name} did not start: ${readFileSync(proxy.log, 'utf8')}`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
