import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CliFault, usageFault } from '../fault.ts';
import type { Io } from '../io.ts';
import { configFile } from './config-file.ts';
import { modeOf, writeSecret } from './private-file.ts';
import { readJson } from './read-json.ts';

export const STORE_KINDS = ['keyring', 'file'] as const;
export type StoreKind = (typeof STORE_KINDS)[number];

/** A token with the only origin that it may be sent to, so that an edited address of a profile does not take it elsewhere. */
export interface Credential {
  readonly origin: string;
  readonly token: string;
}

/** Where the tokens of profiles are. */
export interface CredentialStore {
  readonly kind: StoreKind;
  /** For a person: where a token is, and who may read it. */
  readonly place: (profile: string) => Promise<string>;
  readonly get: (profile: string) => Promise<Credential | null>;
  readonly set: (profile: string, credential: Credential) => Promise<void>;
  readonly delete: (profile: string) => Promise<void>;
}

/** Throws a fault where the store cannot be used: before a person signs in, and not after. */
export async function openStore(kind: StoreKind, io: Pick<Io, 'env' | 'platform'>): Promise<CredentialStore> {
  return kind === 'file' ? fileStore(io) : keyringStore();
}

/** The store of a login: of the flag, else of the environment, else the keyring. */
export function storeKind(given: string | undefined, { env }: Pick<Io, 'env'>): StoreKind {
  const name = given ?? env['WTS_CREDENTIAL_STORE'] ?? 'keyring';
  const kind = STORE_KINDS.find((one) => one === name);
  if (kind === undefined) throw usageFault(`The credential store is ${STORE_KINDS.join(' or ')}, not ${name}.`);
  return kind;
}

/** One file a profile, so that two logins at the same time keep both. */
function fileStore(io: Pick<Io, 'env' | 'platform'>): CredentialStore {
  const pathOf = (profile: string): string => join(dirname(configFile(io)), 'credentials', `${profile}.json`);
  return {
    kind: 'file',
    place: async (profile) => {
      const mode = await modeOf(pathOf(profile), io.platform);
      return mode === null ? pathOf(profile) : `${pathOf(profile)} (0${mode.toString(8)})`;
    },
    get: async (profile) => {
      const path = pathOf(profile);
      const mode = await modeOf(path, io.platform);
      if (mode !== null && (mode & 0o077) !== 0) {
        const hint = `Revoke the key if others use this machine: wts logout. Else: chmod 600 ${path}`;
        throw new CliFault('failed', `${path} can be read by others (0${mode.toString(8)}), so it is not used.`, {
          hint,
        });
      }
      return readJson<Credential>(path);
    },
    set: (profile, credential) => writeSecret(pathOf(profile), JSON.stringify(credential)),
    delete: (profile) => rm(pathOf(profile), { force: true }),
  };
}

/** The part of `@napi-rs/keyring` that is used. The package is optional, because it is a program for one platform. */
interface Keyring {
  readonly AsyncEntry: new (
    service: string,
    user: string,
    options: { readonly linux: { readonly store: 'secret-service' } },
  ) => {
    readonly getPassword: () => Promise<string | null>;
    readonly setPassword: (password: string) => Promise<void>;
    readonly deletePassword: () => Promise<boolean>;
  };
}

const SERVICE = 'wts';
/** As a variable, so that the bundle is made without the package. */
const PACKAGE = '@napi-rs/keyring';

/** The keyring of the system: Keychain, Credential Manager, or the Secret Service, whose tokens survive a restart. */
async function keyringStore(): Promise<CredentialStore> {
  const { AsyncEntry } = await loadKeyring();
  const entry = (profile: string) => new AsyncEntry(SERVICE, profile, { linux: { store: 'secret-service' } });
  const trying = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      throw noKeyring('cannot be used; it may be locked', cause);
    }
  };
  // A keyring that is missing or locked shows at the first use.
  await trying(() => entry('availability').getPassword());
  return {
    kind: 'keyring',
    place: async (profile) => `keyring of the system (service ${SERVICE}, account ${profile})`,
    get: (profile) =>
      trying(async () => {
        const text = await entry(profile).getPassword();
        return text === null ? null : (JSON.parse(text) as Credential);
      }),
    set: (profile, credential) => trying(() => entry(profile).setPassword(JSON.stringify(credential))),
    delete: (profile) => trying(async () => void (await entry(profile).deletePassword())),
  };
}

async function loadKeyring(): Promise<Keyring> {
  try {
    return (await import(PACKAGE)) as Keyring;
  } catch (cause) {
    throw noKeyring(`is not supported here (${PACKAGE} is not installed)`, cause);
  }
}

/** Nothing is stored in clear unless the person asks for it. */
function noKeyring(what: string, cause: unknown): CliFault {
  const hint =
    'Store the key in a file that only you can read: --credential-store=file, or WTS_CREDENTIAL_STORE=file. ' +
    'Or store none, and set WTS_TOKEN.';
  return new CliFault('failed', `The keyring of the system ${what}.`, { code: 'no_keyring', hint, cause });
}
