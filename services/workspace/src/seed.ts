import { commitUnitSender, createServiceClient } from '@wts/service-kit/call';
import { defineSettings, parseSettings, serviceSettings, setting } from '@wts/service-kit/config';
import { createLogger } from '@wts/service-kit/observe';
import { openPostgres } from '@wts/service-kit/postgres';
import { seedDemo } from './commands/seed-demo.ts';
import { storeSettings } from './config.ts';
import { workspaceReads } from './store/workspaces.ts';

/**
 * Creates the demo workspace where it is missing, and prints its id as one line of JSON. `npm start` runs it after the seed of
 * the auth service, which creates the owner. Logs go to stderr, because stdout is the result.
 */
const settings = defineSettings({
  ...storeSettings,
  internalTokenSecret: serviceSettings.internalTokenSecret,
  userId: setting.text('SEED_USER_ID', {
    doc: 'The person who owns the demo workspace, as the seed of the auth service prints it.',
  }),
});

const config = parseSettings(settings, process.env);
const log = createLogger({ name: 'workspace-seed', level: 'warn', destination: process.stderr });
await using stack = new AsyncDisposableStack();
const { knex } = openPostgres({
  url: config.databaseUrl,
  poolMax: 1,
  applicationName: 'wts-workspace-seed',
  log,
  stack,
});
const sync = createServiceClient({
  name: 'sync',
  urls: config.syncUrls,
  secret: config.internalTokenSecret,
  self: 'workspace',
  log,
});
stack.defer(() => sync.close());

const demo = await seedDemo({ workspaces: workspaceReads(knex), commitUnit: commitUnitSender(sync) }, config.userId);
process.stdout.write(`${JSON.stringify(demo)}\n`);
