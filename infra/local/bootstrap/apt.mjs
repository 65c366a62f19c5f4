// Debian packages without root. Downloading and unpacking needs no rights, only the package lists.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SYSTEM_LISTS = '/var/lib/apt/lists';
const UPDATE_MS = 120_000;

/**
 * Options with which apt-get and apt-cache find packages. Container images have no package lists; then this downloads them
 * once into `directory`.
 * @param {string} directory
 * @returns {Promise<string[]>}
 */
export async function aptOptions(directory) {
  if (hasLists(SYSTEM_LISTS)) return [];
  const lists = join(directory, 'lists');
  const options = ['-o', `Dir::State::Lists=${lists}`, '-o', `Dir::Cache=${join(directory, 'cache')}`];
  if (hasLists(lists)) return options;
  for (const path of [join(lists, 'partial'), join(directory, 'cache', 'archives', 'partial')])
    mkdirSync(path, { recursive: true });
  await run('apt-get', [...options, '-qq', 'update'], { timeout: UPDATE_MS });
  return options;
}

/** @param {string} directory */
function hasLists(directory) {
  return existsSync(directory) && readdirSync(directory).some((name) => /_Packages(\.\w+)?$/.test(name));
}
