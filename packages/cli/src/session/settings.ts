import { CliFault } from '../fault.ts';
import type { Io } from '../io.ts';
import type { Options } from '../options.ts';
import { configFile, readConfig, type Config, type Profile } from './config-file.ts';
import { findProjectFile } from './project-file.ts';

/** A value and where it came from, as `WTS_URL` or `profile work`. */
export interface Setting {
  readonly value: string;
  readonly source: string;
}

/** What a command works with: of a flag, else of the environment, else of the project file, else of the profile. Keeps cli.settings.order. */
export interface Settings {
  readonly profile: Setting | null;
  readonly url: Setting | null;
  readonly authUrl: Setting | null;
  readonly token: Setting | null;
  readonly workspace: Setting | null;
}

interface LocalStack {
  readonly baseUrl: string;
  readonly authUrl: string;
  readonly apiKey: string;
  readonly workspaceId: string;
}

export async function readSettings(io: Io, options: Options): Promise<Settings> {
  const [project, config] = [await findProjectFile(io), await readConfig(io)];
  const ofFlag = (name: string): Setting | null => settingOf(options.text(name), `--${name}`);
  const ofEnv = (name: string): Setting | null => settingOf(io.env[name], name);
  const ofProject = (name: 'profile' | 'workspace'): Setting | null =>
    project && settingOf(project[name], project.path);
  const profile =
    ofFlag('profile') ?? ofEnv('WTS_PROFILE') ?? ofProject('profile') ?? settingOf(config.profile, configFile(io));
  const chosen = profile && profileOf(config, profile);
  const ofProfile = (name: 'url' | 'authUrl' | 'workspace'): Setting | null =>
    chosen && settingOf(chosen[name], `profile ${profile?.value}`);
  const stack = profile === null ? await readLocalStack(io) : null;
  const ofStack = (name: keyof LocalStack): Setting | null => stack && settingOf(stack[name], 'npm start');
  const url = ofEnv('WTS_URL') ?? ofProfile('url') ?? ofStack('baseUrl');
  return {
    profile,
    url,
    authUrl: ofEnv('WTS_AUTH_URL') ?? ofProfile('authUrl') ?? ofStack('authUrl'),
    // A credential is only sent to the server that it came with.
    token:
      ofEnv('WTS_TOKEN') ??
      (profile && (await storedToken(io, profile.value, chosen, url?.value ?? ''))) ??
      (ofEnv('WTS_URL') === null ? ofStack('apiKey') : null),
    workspace:
      ofFlag('workspace') ??
      ofEnv('WTS_WORKSPACE') ??
      ofProject('workspace') ??
      ofProfile('workspace') ??
      ofStack('workspaceId'),
  };
}

/** The key of a profile. Where the address is another one than that of the key, the address may be an attacker's. */
async function storedToken(io: Io, name: string, profile: Profile | null, url: string): Promise<Setting | null> {
  if (profile?.store === undefined || !URL.canParse(url)) return null;
  const { openStore } = await import('./credential-store.ts');
  const credential = await (await openStore(profile.store, io)).get(name);
  if (credential === null) return null;
  if (credential.origin === new URL(url).origin)
    return { value: credential.token, source: `${profile.store}, profile ${name}` };
  const message = `The key of the profile ${name} is for ${credential.origin}, and is not sent to ${url}.`;
  throw new CliFault('sign-in', message, { code: 'other_server', hint: `To sign in there: wts login ${url}` });
}

function profileOf({ profiles }: Config, { value, source }: Setting): Profile {
  const profile = profiles[value];
  if (profile !== undefined) return profile;
  const hint = 'wts auth status lists the profiles.';
  throw new CliFault('not-found', `There is no profile ${JSON.stringify(value)} (${source}).`, { hint });
}

function settingOf(value: string | null | undefined, source: string): Setting | null {
  return value === undefined || value === null || value === '' ? null : { value, source };
}

/** The system that `npm start` runs in a checkout: `npm run wts` names the file where its addresses and its demo key are. */
async function readLocalStack({ env }: Io): Promise<LocalStack | null> {
  const file = env['WTS_LOCAL_STACK'];
  if (file === undefined || file === '') return null;
  const { readJson } = await import('./read-json.ts');
  return readJson<LocalStack>(file);
}
