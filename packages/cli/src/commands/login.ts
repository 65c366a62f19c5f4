import { createApiClient } from '@wts/client/api';
import type { Call } from '../call.ts';
import { usageFault } from '../fault.ts';
import { readConfig, type Profile } from '../session/config-file.ts';
import { openStore, storeKind, type Credential, type CredentialStore } from '../session/credential-store.ts';
import { withConfigLock } from '../session/config-lock.ts';
import { faultOf } from '../session/fault-of.ts';
import { notePauses, openFetch } from '../session/fetch.ts';
import { listenForCallback } from '../session/login-callback.ts';
import { endKey, exchangeCode, loginRequest, type MadeKey } from '../session/login-exchange.ts';
import { openBrowser } from '../session/open-browser.ts';
import { profileName, saveProfile } from '../session/profiles.ts';
import { findServer, readAddress, withScheme, type ServerAddress } from '../session/server.ts';
import { readSettings } from '../session/settings.ts';
import type { Viewer } from '../session/session.ts';
import { readSecret } from './secret-input.ts';

const WAIT_MS = 5 * 60_000;
const VIEWER = 'query CliLogin { viewer { id name email username } }';

/** Signs in by a page of the service, or with a key that exists, and stores the key with the only origin that it is sent to. */
export async function login(call: Call): Promise<void> {
  const { io, options, output, signal } = call;
  const store = await openStore(storeKind(options.text('credentialStore'), io), io);
  const fetch = openFetch({ io, output });
  const server = await findServer(await addressOf(call), { fetch, signal });
  await output.note(`Signing in to ${server.url} ...`);
  const use = async (token: string, made: MadeKey | null): Promise<void> => {
    try {
      const { graphql } = createApiClient({ baseUrl: server.url, token, fetch, retry: notePauses(output) });
      const { viewer } = await graphql<{ viewer: Viewer }>(VIEWER, {}, { signal });
      await keep(call, { server, store, fetch, token, viewer, made });
    } catch (error) {
      // A key that is stored nowhere would live until its end.
      if (made !== null) await endKey(server.authUrl, token, fetch).catch(() => undefined);
      throw error;
    }
  };
  if (options.flag('withToken')) {
    const token = await readSecret(io, 'API key: ', signal);
    if (token === '') throw usageFault('--with-token reads the key from stdin, and there was none.');
    return use(token, null);
  }
  const byKey = (key: MadeKey): Promise<void> => use(key.token, key);
  if (options.flag('browser')) return connectByBrowser(call, server, fetch, byKey);
  return byKey(await connectByCode(call, server, fetch));
}

/** Of the command, else of the environment, the profile or the local stack. */
async function addressOf({ words, io, options }: Call): Promise<string> {
  const [given] = words;
  if (given !== undefined) return readAddress(withScheme(given));
  const { url } = await readSettings(io, options);
  if (url !== null) return readAddress(url.value);
  throw usageFault('Name the address of the API.', 'Such as: wts login https://api.example.com');
}

type Fetch = typeof globalThis.fetch;

const accessOf = ({ options }: Call): string =>
  options.text('permissions') ?? (options.flag('readOnly') ? 'read-only' : 'full-access');

/** The person copies the code from a page on any device. */
async function connectByCode(call: Call, server: ServerAddress, fetch: Fetch): Promise<MadeKey> {
  const { io, output, signal } = call;
  const { address, verifier } = loginRequest(server.authUrl, accessOf(call), null);
  await output.address('Open this address in a browser on any device:', address);
  const code = await readSecret(io, 'Code of the page (not shown): ', signal);
  if (!/^wtsc_[0-9a-f]{64}$/.test(code)) throw usageFault('That is no code of the page.', 'It begins with wtsc_.');
  return exchangeCode(server, { code, verifier }, { fetch, signal });
}

/** The browser brings the code. Its last page says whether the key is stored. */
async function connectByBrowser(
  call: Call,
  server: ServerAddress,
  fetch: Fetch,
  use: (key: MadeKey) => Promise<void>,
): Promise<void> {
  const { io, output, signal } = call;
  await using listener = await listenForCallback();
  const { address, verifier, state } = loginRequest(server.authUrl, accessOf(call), listener.port);
  const answer = listener.next(state, { signal, timeoutMs: WAIT_MS });
  await output.address('Your browser opens. If it does not, open this address on this machine:', address);
  openBrowser(address, io);
  await output.note('Waiting for you to answer in the browser; Ctrl-C cancels ...');
  const { code, finish } = await answer;
  try {
    await use(await exchangeCode(server, { code, verifier }, { fetch, signal }));
  } catch (error) {
    await finish(faultOf(error).message);
    throw error;
  }
  await finish(null);
}

interface Kept {
  readonly server: ServerAddress;
  readonly store: CredentialStore;
  readonly fetch: Fetch;
  readonly token: string;
  readonly viewer: Viewer;
  /** Null for a key that existed. */
  readonly made: MadeKey | null;
}

async function keep(call: Call, kept: Kept): Promise<void> {
  const { io, output } = call;
  const { server, store, fetch, token } = kept;
  const { name: personName, email } = kept.viewer;
  // Two logins at the same time might choose the same name.
  const { name, profile, before, old } = await withConfigLock(io, () => storeProfile(call, kept));
  // The key of the login before would live on without a user.
  if (old !== null && old.token !== token && before?.authUrl !== undefined)
    await endKey(before.authUrl, old.token, fetch).catch(() => undefined);
  await output.record({ profile: name, ...profile }, name, [
    { title: 'Signed in', value: personName, shown: email === null ? personName : `${personName} <${email}>` },
    { title: 'Service', value: server.url },
    { title: 'Profile', value: name },
    { title: 'Key', value: `…${token.slice(-4)}` },
    { title: 'Access', value: profile.access },
    { title: 'Expires', value: profile.expiresAt, shown: profile.expiresAt?.slice(0, 10) ?? '' },
    { title: 'Stored in', value: await store.place(name) },
  ]);
  if ((io.env['WTS_TOKEN'] ?? '') !== '') await output.warn('WTS_TOKEN is set and takes precedence over this login.');
}

interface Stored {
  readonly name: string;
  readonly profile: Profile;
  /** What the profile was, and its key. */
  readonly before: Profile | undefined;
  readonly old: Credential | null;
}

async function storeProfile({ io, options }: Call, { server, store, token, viewer, made }: Kept): Promise<Stored> {
  const { id: userId, name: personName, email } = viewer;
  const config = await readConfig(io);
  const name = profileName(config, options.text('profile'), { url: server.url, userId, email });
  const before = config.profiles[name];
  const old = before?.keyId === undefined ? null : await store.get(name).catch(() => null);
  const profile: Profile = {
    ...server,
    userId,
    name: personName,
    ...(email === null ? {} : { email }),
    store: store.kind,
    ...(made === null ? {} : { keyId: made.id, access: made.permissions, expiresAt: made.expiresAt }),
    ...(before?.workspace === undefined || before.url !== server.url ? {} : { workspace: before.workspace }),
  };
  await store.set(name, { origin: new URL(server.url).origin, token });
  await saveProfile(io, name, profile);
  return { name, profile, before, old };
}
