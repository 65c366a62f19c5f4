import type { ConfigOf } from '@wts/service-kit/config';
import type { ServiceDefinition } from '@wts/service-kit/life';
import { checkPostgres, openPostgres } from '@wts/service-kit/postgres';
import { createApp, notFoundAndErrors } from '@wts/service-kit/routes';
import { settings } from './config.ts';
import { mountGrants } from './http/grants.ts';
import { openOAuth } from './oauth/oauth.ts';

/**
 * The one place that knows who calls: identities and API keys, sign-in, and the OAuth 2.1 authorization server of {auth_url}. Its
 * tables are not synced to clients; people are records of the sync service.
 */
export const authService: ServiceDefinition<ConfigOf<typeof settings>> = {
  name: 'auth',
  settings,
  async open(kit, config) {
    const { log, stack, readiness, signal } = kit;
    await checkPostgres({ url: config.databaseUrl, applicationName: 'wts-auth', log, readiness, signal });
    const { knex } = openPostgres({
      url: config.databaseUrl,
      poolMax: config.poolMax,
      applicationName: 'wts-auth',
      log,
      stack,
      readiness,
    });
    const oauth = openOAuth({ ...config, knex, revoke: async () => undefined });
    const app = createApp(kit);
    mountGrants(app, oauth);
    notFoundAndErrors(app);
    return { app, host: config.host, port: config.port };
  },
};
