import { Roles, shardCheck, SYNC_SCHEMA } from '@wts/read-model';
import { commitUnitSender, openServiceClient } from '@wts/service-kit/call';
import { parseReplaySecrets, type ConfigOf } from '@wts/service-kit/config';
import type { ServiceDefinition } from '@wts/service-kit/life';
import { openNats, revocationSender } from '@wts/service-kit/nats';
import { idempotencyKeys, openServicePostgres } from '@wts/service-kit/postgres';
import { createApp, idempotency, notFoundAndErrors } from '@wts/service-kit/routes';
import { settings } from './config.ts';
import type { Context } from './context.ts';
import { mountPrivateProjects } from './http/private-projects.ts';
import { mountWorkspaces } from './http/workspaces.ts';
import { askAuth } from './queries/auth.ts';
import { invitationStore } from './store/invitations.ts';
import { privateProjectReads } from './store/private-projects.ts';
import { workspaceReads } from './store/workspaces.ts';
import { wrongCodeStore } from './store/wrong-codes.ts';

/**
 * Workspaces, members and invitations. The service reads the synced models by SQL and changes them only by commits of the sync
 * service. Its own table of invitations is not synced to clients.
 */
export const workspaceService: ServiceDefinition<ConfigOf<typeof settings>> = {
  name: 'workspace',
  settings,
  reads: SYNC_SCHEMA,
  async open(kit, config) {
    const { log, stack } = kit;
    const refusal = config.shard === undefined ? {} : { refusal: shardCheck(config.shard) };
    const { knex, pool } = await openServicePostgres(kit, { ...config, ...refusal });
    const nats = openNats({ ...config, name: 'wts-workspace', log, stack });
    const context: Context = {
      ...askAuth(openServiceClient(kit, 'auth', config.authUrls), log, config.shard),
      roles: new Roles(pool),
      workspaces: workspaceReads(knex),
      privateProjects: privateProjectReads(knex),
      invitations: invitationStore(knex),
      wrongCodes: wrongCodeStore(knex),
      wrongCodesPerMinuteMax: config.wrongCodesPerMinuteMax,
      idempotency: idempotency(
        idempotencyKeys(knex, 'workspace.idempotency_keys'),
        parseReplaySecrets(config.replaySecret),
      ),
      commitUnit: commitUnitSender(openServiceClient(kit, 'sync', config.syncUrls)),
      revoke: revocationSender(nats, log),
    };
    const app = createApp(kit);
    mountWorkspaces(app, context);
    mountPrivateProjects(app, context);
    notFoundAndErrors(app);
    return { app, host: config.host, port: config.port };
  },
};
