import { LOCAL_JWT } from '../local-jwt.ts';
import { tokenSettings, type DemoWorkspace, type Secrets } from '../secrets.ts';
import { PASSED_THROUGH } from '../services.ts';
import { UserError } from '../user-error.ts';
import { picked, runScript } from './migrate.ts';
import type { Database } from './provision.ts';

export const API_KEY_PREFIX = 'wts_';

interface SeedOptions extends Pick<Database, 'urlOf'> {
  readonly env: NodeJS.ProcessEnv;
  readonly secrets: Secrets;
  /** As in SYNC_SERVICE_URL. */
  readonly syncUrls: string;
  readonly password: string;
  /** Of an earlier seed: its keys stay the same. */
  readonly stored?: DemoWorkspace | undefined;
}

/** Creates or finds the demo workspace and its owner, by the seeds of the services. */
export async function seedDemo({
  env,
  secrets,
  urlOf,
  syncUrls,
  password,
  stored,
}: SeedOptions): Promise<DemoWorkspace> {
  const shared = { ...picked(env, PASSED_THROUGH), SYNC_SERVICE_URL: syncUrls };
  const owner = readSeeded(
    'auth',
    await runScript('auth', 'seed', {
      ...shared,
      ...tokenSettings('auth', secrets),
      DATABASE_URL: urlOf('wts_auth'),
      API_KEY_PREFIX,
      SEED_ISSUER: LOCAL_JWT.issuer,
      SEED_PASSWORD: password,
      ...(stored === undefined ? {} : { SEED_API_KEY: stored.apiKey, SEED_READ_ONLY_API_KEY: stored.readOnlyApiKey }),
    }),
    ['userId', 'apiKey', 'readOnlyApiKey', 'person'],
  );
  const demo = readSeeded(
    'workspace',
    await runScript('workspace', 'seed', {
      ...shared,
      ...tokenSettings('workspace', secrets),
      DATABASE_URL: urlOf('wts_workspace'),
      SEED_USER_ID: owner.userId,
    }),
    ['workspaceId'],
  );
  return { ...owner, ...demo };
}

/** The last line of JSON that a seed printed, with these properties. */
function readSeeded<K extends keyof DemoWorkspace>(
  service: string,
  printed: string,
  names: readonly K[],
): Pick<DemoWorkspace, K> {
  const line = printed
    .trim()
    .split('\n')
    .findLast((text) => text.startsWith('{'));
  try {
    const seeded = JSON.parse(line ?? '') as Partial<DemoWorkspace>;
    if (names.every((name) => seeded[name])) return seeded as Pick<DemoWorkspace, K>;
  } catch {
    // Falls through to the error below.
  }
  throw new UserError(`services/${service}/src/seed.ts did not print a line with ${names.join(', ')}.`);
}
