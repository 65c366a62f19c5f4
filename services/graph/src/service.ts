import { Standby } from '@wts/read-model';
import { openServiceClient } from '@wts/service-kit/call';
import type { ConfigOf } from '@wts/service-kit/config';
import type { ServiceContext, ServiceDefinition } from '@wts/service-kit/life';
import { checkPostgres, openPostgres } from '@wts/service-kit/postgres';
import { createApp, notFoundAndErrors } from '@wts/service-kit/routes';
import { settings } from './config.ts';
import type { Context } from './context.ts';
import { mountGraphql } from './http/graphql.ts';
import { mountSchema } from './http/schema.ts';
import { standbyMetrics } from './metrics.ts';

type Config = ConfigOf<typeof settings>;

/** A database replica that needs longer for a small query is no faster than the primary. */
const STANDBY_TIMEOUT_MS = 2_000;

/**
 * GraphQL over the records of the sync service: `graphql/` decides what may run, `queries/` reads by SQL, `commands/` changes by
 * commits of the sync service. The service owns no data.
 */
export const graphService: ServiceDefinition<Config> = {
  name: 'graph',
  settings,
  async open(kit, config) {
    const { log, stack, readiness, signal } = kit;
    await checkPostgres({ url: config.databaseUrl, applicationName: 'wts-graph', log, readiness, signal });
    const { pool } = openPostgres({
      url: config.databaseUrl,
      poolMax: config.poolMax,
      applicationName: 'wts-graph',
      log,
      stack,
      readiness,
    });
    const context: Context = {
      pool,
      standby: openStandby(kit, config),
      sync: openServiceClient(kit, 'sync', config.syncUrls),
      workspace: openServiceClient(kit, 'workspace', config.workspaceUrls),
    };
    const app = createApp(kit);
    mountGraphql(app, context);
    mountSchema(app);
    notFoundAndErrors(app);
    return { app, host: config.host, port: config.port };
  },
};

function openStandby({ log, stack, metrics }: ServiceContext, { replicaUrl: url, poolMax }: Config): Standby | null {
  if (url === undefined) return null;
  // Not part of readiness: while the database replica is unavailable, the primary serves the reads.
  const applicationName = 'wts-graph-read';
  const { pool } = openPostgres({ url, poolMax, applicationName, timeoutMs: STANDBY_TIMEOUT_MS, log, stack });
  return new Standby({ pool, logger: log, observe: standbyMetrics(metrics) });
}
