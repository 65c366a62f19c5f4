import type { Call } from '../call.ts';
import { CliFault } from '../fault.ts';
import type { Detail, View } from '../output/view.ts';
import { readConfig, type Profile } from '../session/config-file.ts';
import { openStore } from '../session/credential-store.ts';
import { faultOf } from '../session/fault-of.ts';
import { readSettings, type Setting } from '../session/settings.ts';

interface Status {
  /** Null for a credential that no login stored. */
  readonly profile: string | null;
  readonly isUsed: boolean;
  readonly url: string | null;
  readonly person: string | null;
  /** Its last four characters. */
  readonly key: string | null;
  readonly access: string | null;
  readonly expiresAt: string | null;
  readonly storedIn: string;
}

const VIEW: View<Status> = {
  nouns: ['profile', 'profiles'],
  id: ({ profile }) => profile ?? 'WTS_TOKEN',
  columns: [
    { title: '', value: ({ isUsed }) => (isUsed ? '*' : '') },
    { title: 'PROFILE', value: ({ profile }) => profile },
    { title: 'SERVICE', value: ({ url }) => url },
    { title: 'PERSON', value: ({ person }) => person },
    { title: 'KEY', value: ({ key }) => key },
    { title: 'ACCESS', value: ({ access }) => access },
    { title: 'EXPIRES', value: ({ expiresAt }) => expiresAt },
    { title: 'STORED IN', value: ({ storedIn }) => storedIn },
  ],
};

/** Which credentials are stored, where, and which one a command uses. Sends nothing. */
export async function status({ io, options, output }: Call): Promise<void> {
  const { profiles } = await readConfig(io);
  // The rows say what is wrong with a store that fails.
  const settings = await readSettings(io, options).catch(() => null);
  const used = settings?.profile?.value;
  const isOfProfile = used !== undefined && (io.env['WTS_TOKEN'] ?? '') === '';
  const stored = await Promise.all(
    Object.entries(profiles).map(([name, profile]) => statusOf(io, name, profile, isOfProfile && name === used)),
  );
  const other = isOfProfile ? null : settings?.token;
  const all = [...(other ? [ofEnvironment(other, settings?.url?.value ?? null)] : []), ...stored];
  if (all.length === 0) throw new CliFault('sign-in', 'You are not signed in.', { hint: 'Run wts login.' });
  if (output.form !== 'table') return output.list(all, VIEW);
  for (const [at, status] of all.entries()) {
    if (at > 0) await output.text('\n');
    await output.record(status, VIEW.id(status), detailsOf(status));
  }
}

/** A person needs all of an address, which has no place in a row. */
function detailsOf({ profile, isUsed, url, person, key, access, expiresAt, storedIn }: Status): Detail[] {
  const name = profile ?? 'Without a profile';
  return [
    { title: 'Profile', isHeading: true, value: name, shown: isUsed ? `${name} (in use)` : name },
    { title: 'Service', value: url },
    { title: 'Person', value: person },
    { title: 'Key', value: key },
    { title: 'Access', value: access },
    { title: 'Expires', value: expiresAt, shown: expiresAt?.slice(0, 10) ?? '' },
    { title: 'Stored in', value: storedIn },
  ];
}

function ofEnvironment({ value, source }: Setting, url: string | null): Status {
  const unknown = { profile: null, person: null, access: null, expiresAt: null };
  return { ...unknown, isUsed: true, url, key: `…${value.slice(-4)}`, storedIn: source };
}

async function statusOf(io: Call['io'], name: string, profile: Profile, isUsed: boolean): Promise<Status> {
  const { url, store: kind = 'keyring', email, name: personName, access = null, expiresAt = null } = profile;
  const common = { profile: name, isUsed, url, person: email ?? personName ?? null, access, expiresAt };
  try {
    const store = await openStore(kind, io);
    const credential = await store.get(name);
    const key = credential === null ? null : `…${credential.token.slice(-4)}`;
    return { ...common, key, storedIn: credential === null ? 'nowhere: sign in again' : await store.place(name) };
  } catch (error) {
    return { ...common, key: null, storedIn: faultOf(error).message };
  }
}
