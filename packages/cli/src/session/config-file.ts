import { join } from 'node:path';
import type { Io } from '../io.ts';
import { readJson } from './read-json.ts';

/** A server and a person who is signed in there. */
export interface Profile {
  readonly url: string;
  readonly authUrl?: string;
  readonly userId?: string;
  readonly name?: string;
  readonly email?: string;
  /** Where the key is. */
  readonly store?: 'keyring' | 'file';
  /** Of a key that a login made: a logout revokes it. */
  readonly keyId?: string;
  readonly access?: string;
  readonly expiresAt?: string | null;
  /** The workspace of commands that name none. */
  readonly workspace?: string | null;
}

export interface Config {
  /** The profile of commands that name none. */
  readonly profile?: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** Where the tool keeps its files, by the rules of the platform. */
function configFolder({ env, platform }: Pick<Io, 'env' | 'platform'>): string {
  const given = env['WTS_CONFIG_DIR'] ?? '';
  if (given !== '') return given;
  if (platform === 'win32') return join(env['AppData'] ?? env['APPDATA'] ?? '', 'wts');
  const xdg = env['XDG_CONFIG_HOME'] ?? '';
  return join(xdg === '' ? join(env['HOME'] ?? '', '.config') : xdg, 'wts');
}

export function configFile(io: Pick<Io, 'env' | 'platform'>): string {
  return join(configFolder(io), 'config.json');
}

export async function readConfig(io: Pick<Io, 'env' | 'platform'>): Promise<Config> {
  const config = await readJson<Partial<Config>>(configFile(io));
  // Without a prototype, because a name such as `constructor` is the name of no profile.
  const profiles = Object.create(null) as Record<string, Profile>;
  return { ...config, profiles: Object.assign(profiles, config?.profiles) };
}
