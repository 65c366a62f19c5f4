import { defineSettings, setting } from '@wts/service-kit/config';
import { runSeed } from '@wts/service-kit/seed';
import { seedDemo } from './commands/seed-demo.ts';
import { settings as serviceOwn, storeSettings } from './config.ts';
import { PasswordHashes } from './accounts/password-hashes.ts';
import { accountStore } from './store/accounts.ts';
import { apiKeyStore } from './store/api-keys.ts';
import { identityStore } from './store/identities.ts';

/**
 * Creates the owner of the demo workspace and two API keys where they are missing, and prints them. `npm start` runs it once sync is
 * ready, before the seed of the workspace service.
 */
await runSeed({
  service: 'auth',
  settings: defineSettings({
    ...storeSettings,
    apiKey: setting.text('SEED_API_KEY', {
      optional: true,
      secret: true,
      doc: 'Token of the full-access key of the demo owner. Default: a new one.',
    }),
    readOnlyApiKey: setting.text('SEED_READ_ONLY_API_KEY', {
      optional: true,
      secret: true,
      doc: 'Token of the read-only key of the demo owner. Default: a new one.',
    }),
    password: setting.text('SEED_PASSWORD', {
      optional: true,
      secret: true,
      doc: 'Password of the account of the demo owner. Default: there is no account.',
    }),
    passwordCostLog2: serviceOwn.passwordCostLog2,
    issuer: setting.text('SEED_ISSUER', {
      optional: true,
      doc: 'Issuer of tokens that sign in the demo owner; their subject is the id of the demo owner.',
    }),
  }),
  seed: ({ knex, commitUnit }, config) =>
    seedDemo(
      {
        identities: identityStore(knex),
        keys: apiKeyStore(knex),
        accounts: accountStore(knex),
        passwords: new PasswordHashes(config.passwordCostLog2),
        commitUnit,
      },
      config,
    ),
});
