import type { Call } from '../call.ts';
import { CliFault } from '../fault.ts';
import { readConfig, type Profile } from '../session/config-file.ts';
import { openStore } from '../session/credential-store.ts';
import { faultOf } from '../session/fault-of.ts';
import { openFetch } from '../session/fetch.ts';
import { endKey } from '../session/login-exchange.ts';
import { deleteProfile } from '../session/profiles.ts';
import { readSettings } from '../session/settings.ts';

/** Revokes the key that a login made, and forgets the profile. */
export async function logout({ io, options, output }: Call): Promise<void> {
  const { profile: setting } = await readSettings(io, options);
  const { profiles } = await readConfig(io);
  const profile = setting === null ? undefined : profiles[setting.value];
  if (setting === null || profile === undefined) throw new CliFault('sign-in', 'You are not signed in.');
  const name = setting.value;
  const store = await openStore(profile.store ?? 'keyring', io);
  const credential = await store.get(name);
  const failure = credential === null ? null : await end(profile, credential, openFetch({ io, output }));
  await store.delete(name);
  await deleteProfile(io, name);
  if (failure !== null) {
    const message = `You are signed out here, but the key lives on: ${failure}`;
    const hint = `Revoke it on ${profile.authUrl}/account, or signed in: wts api-key revoke ${profile.keyId}`;
    throw new CliFault('partly', message, { hint });
  }
  await output.changed({ profile: name }, { id: name, key: profile.url, line: `Signed out of ${profile.url}.` });
  if (profile.keyId === undefined) await output.note('The key was not made by wts login, so it stays valid.');
}

/** Why the key could not be revoked. Only a key that a login made is: others may use one that was given to it. */
async function end(
  { url, authUrl, keyId }: Profile,
  { origin, token }: { readonly origin: string; readonly token: string },
  fetch: typeof globalThis.fetch,
): Promise<string | null> {
  if (keyId === undefined || authUrl === undefined || origin !== new URL(url).origin) return null;
  try {
    await endKey(authUrl, token, fetch);
    return null;
  } catch (error) {
    return faultOf(error).message;
  }
}
