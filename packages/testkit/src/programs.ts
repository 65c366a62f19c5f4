import { LOCAL, fetchDebianPackages } from '@wts/local';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

type PackageTree = Awaited<ReturnType<typeof fetchDebianPackages>>;

/** The first of these programs that lies on the PATH, or else elsewhere. */
export function findProgram(names: readonly string[], elsewhere: readonly string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  return [...candidates, ...elsewhere].find(isExecutable);
}

/** A package of Debian, unpacked the first time it is asked for; null, with a warning, where it cannot be had. */
export async function fetchPackage(name: string): Promise<PackageTree | null> {
  try {
    return await fetchDebianPackages([name], join(LOCAL, 'packages', name));
  } catch (error) {
    process.emitWarning(`No ${name} could be fetched: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
