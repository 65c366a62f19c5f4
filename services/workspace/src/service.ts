import { Roles } from '@wts/read-model';
import { openServiceClient } from '@wts/service-kit/call';
import type { ConfigOf } from '@wts/service-kit/config';
import type { ServiceDefinition } from '@wts/service-kit/life';
import { openNats } from '@wts/service-kit/nats';
import { checkPostgres, idempotencyKeys, openPostgres } from '@wts/service-kit/postgres';
import { createApp, idempotency, notFoundAndErrors } from '@wts/service-kit/routes';
import { commitUnitSender } from './commands/commit-unit.ts';
import { settings } from './config.ts';
import type { Context } from './context.ts';
import { mountApiKeys } from './http/api-keys.ts';
import { mountCredentials } from './http/credentials.ts';
import { mountPrivateProjects } from './http/private-projects.ts';
import { mountWorkspaces } from './http/workspaces.ts';
import { openKeyUse } from './key-use.ts';
import { serviceMetrics } from './metrics.ts';
import { revocationSender } from './revocations.ts';
import { apiKeyStore } from './store/api-keys.ts';
import { identityStore } from './store/identities.ts';
import { invitationStore } from './store/invitations.ts';
import { privateProjectReads } from './store/private-projects.ts';
import { workspaceReads } from './store/workspaces.ts';

/**
 * Workspaces, members, invitations, people and API keys. The service reads the synced models by SQL and changes them only by
 * commits of the sync service. Its own tables (identities, invitations, keys) are not synced to clients.
 */
export const workspaceService: ServiceDefinition<ConfigOf<typeof settings>> = {
  name: 'workspace',
  settings,
  async open(kit, config) {
    const { log, stack, readiness, signal } = kit;
    await checkPostgres({ url: config.databaseUrl, applicationName: 'wts-workspace', log, readiness, signal });
    const { knex, pool } = openPostgres({
      url: config.databaseUrl,
      poolMax: config.poolMax,
      applicationName: 'wts-workspace',
      log,
      stack,
      readiness,
    });
    const nats = openNats({ urls: config.natsUrls, name: 'wts-workspace', log, stack });
    const sync = openServiceClient(kit, 'sync', config.syncUrls);

    const keys = apiKeyStore(knex);
    const context: Context = {
      roles: new Roles(pool),
      workspaces: workspaceReads(knex),
      privateProjects: privateProjectReads(knex),
      identities: identityStore(knex),
      invitations: invitationStore(knex),
      keys,
      idempotency: idempotency(idempotencyKeys(knex, 'workspace.idempotency_keys'), kit.secrets),
      apiKeyPrefix: config.apiKeyPrefix,
      commitUnit: commitUnitSender(sync),
      revoke: revocationSender(nats, log),
      keyUse: stack.use(openKeyUse(keys, log)),
      metrics: serviceMetrics(kit.metrics),
    };
    const app = createApp(kit);
    mountWorkspaces(app, context);
    mountPrivateProjects(app, context);
    mountApiKeys(app, context);
    mountCredentials(app, context);
    notFoundAndErrors(app);
    return { app, host: config.host, port: config.port };
  },
};
