import { defineSettings, setting } from '@wts/service-kit/config';
import { runSeed } from '@wts/service-kit/seed';
import { seedDemo } from './commands/seed-demo.ts';
import { storeSettings } from './config.ts';
import { workspaceReads } from './store/workspaces.ts';

/**
 * Creates the demo workspace where it is missing, and prints its id. `npm start` runs it after the seed of the auth service, which
 * creates the owner.
 */
await runSeed({
  service: 'workspace',
  settings: defineSettings({
    ...storeSettings,
    userId: setting.text('SEED_USER_ID', {
      doc: 'The person who owns the demo workspace, as the seed of the auth service prints it.',
    }),
  }),
  seed: ({ knex, commitUnit }, { userId }) => seedDemo({ workspaces: workspaceReads(knex), commitUnit }, userId),
});
