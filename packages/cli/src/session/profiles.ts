import { CliFault, usageFault } from '../fault.ts';
import type { Io } from '../io.ts';
import { configFile, readConfig, type Config, type Profile } from './config-file.ts';
import { withConfigLock } from './config-lock.ts';
import { writePrivate } from './private-file.ts';

/** A name is a part of the path of a file. */
const NAME = /^[A-Za-z0-9][\w.@-]{0,63}$/;

type Files = Pick<Io, 'env' | 'platform'>;

/** Its caller has the lock, by which the name is still the right one. */
export async function saveProfile(io: Files, name: string, profile: Profile): Promise<void> {
  const config = await readConfig(io);
  await save(io, { ...config, profile: name, profiles: { ...config.profiles, [name]: profile } });
}

/** Another profile, if there is one, becomes that of commands that name none. */
export async function deleteProfile(io: Files, name: string): Promise<void> {
  await change(io, ({ profile, profiles, ...config }) => {
    const { [name]: _, ...others } = profiles;
    const next = profile === name ? Object.keys(others)[0] : profile;
    return { ...config, ...(next === undefined ? {} : { profile: next }), profiles: others };
  });
}

/** The profile of commands that name none; undefined for none. */
export async function useProfile(io: Files, name: string | undefined): Promise<void> {
  await change(io, (before) => {
    const { profile: _, ...config } = before;
    if (name === undefined) return config;
    if (config.profiles[name] !== undefined) return { ...config, profile: name };
    const hint = 'wts auth status lists them.';
    throw new CliFault('not-found', `There is no profile ${JSON.stringify(name)}.`, { hint });
  });
}

/** The workspace of commands of a profile that name none; null for none. */
export async function useWorkspace(io: Files, name: string, workspace: string | null): Promise<void> {
  await change(io, (config) => {
    const profile = config.profiles[name];
    return profile === undefined
      ? config
      : { ...config, profiles: { ...config.profiles, [name]: { ...profile, workspace } } };
  });
}

/** The name of the profile of a login: the given one, that of the same person, or one by the host, and by the person where that is taken. */
export function profileName(
  { profiles }: Config,
  given: string | undefined,
  { url, userId, email }: { readonly url: string; readonly userId: string; readonly email: string | null },
): string {
  if (given !== undefined) {
    if (NAME.test(given)) return given;
    throw usageFault(
      `${JSON.stringify(given)} is no name of a profile.`,
      'It has letters, digits, ".", "_", "@" and "-".',
    );
  }
  const same = Object.entries(profiles).find(([, profile]) => profile.url === url && profile.userId === userId);
  if (same !== undefined) return same[0];
  const host = new URL(url).host.replace(':', '-').replaceAll(/[^\w.-]/g, '');
  const person = ((email ?? userId).split('@')[0] ?? '').replaceAll(/[^\w.-]/g, '');
  const names = [host, `${person}@${host}`, `${userId}@${host}`].map((name) => name.replace(/^\W+/, '').slice(0, 64));
  return names.find((name) => profiles[name] === undefined) ?? userId;
}

function change(io: Files, work: (config: Config) => Config): Promise<void> {
  return withConfigLock(io, async () => save(io, work(await readConfig(io))));
}

async function save(io: Files, config: Config): Promise<void> {
  await writePrivate(configFile(io), `${JSON.stringify(config, null, 2)}\n`);
}
