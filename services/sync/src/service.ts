import { createApp, notFoundAndErrors, openPostgres, type ConfigOf, type ServiceDefinition } from '@wts/service-kit';
import { CommitEngine } from './commit/engine.ts';
import { settings } from './config.ts';
import { mountBatch } from './http/batch.ts';
import { mountBootstrap } from './http/bootstrap.ts';
import { mountDeltas } from './http/deltas.ts';
import { mountInternal } from './http/internal.ts';
import { mountMutate } from './http/mutate.ts';
import { mountSocket } from './http/socket.ts';
import { openLive } from './live.ts';
import { commitMetrics } from './metrics.ts';
import { openSnapshots } from './snapshots.ts';
import { ActionLog } from './store/log.ts';
import { keepLog, retentionOf } from './upkeep.ts';

/**
 * The one writer of every synced model, and the keeper of the log. A change comes in by `http/`, is decided and committed
 * in `commit/`, leaves by `relay/` to JetStream, comes back by `hub/` to every replica and goes out by `socket/`; pollers
 * read it by `deltas/`.
 */
export const syncService: ServiceDefinition<ConfigOf<typeof settings>> = {
  name: 'sync',
  settings,
  async open(kit, config) {
    const { log, stack, readiness } = kit;
    const { pool } = openPostgres({
      url: config.databaseUrl,
      poolMax: config.poolMax,
      applicationName: 'wts-sync',
      log,
      stack,
      readiness,
    });
    const actionLog = new ActionLog(pool);
    const engine = new CommitEngine({ pool, log: actionLog, observe: commitMetrics(kit.metrics) });
    const retention = retentionOf({ days: config.retentionDays, entries: config.retentionEntries });
    stack.use(keepLog({ pool, log: actionLog, databaseUrl: config.databaseUrl, retention, logger: log }));
    const { door, deltas } = openLive({
      kit,
      config,
      pool,
      log: actionLog,
      onCommitted: (listener) => engine.onCommitted(listener),
    });
    const { bootstraps, clientModels, batches } = openSnapshots({ kit, config, pool });

    const app = createApp(kit);
    mountMutate(app, engine);
    mountInternal(app, engine);
    mountBootstrap(app, bootstraps, clientModels);
    mountBatch(app, batches);
    mountDeltas(app, deltas);
    mountSocket(app);
    notFoundAndErrors(app);
    return {
      app,
      host: config.host,
      port: config.port,
      onUpgrade: (req, stream, head) => door.upgrade(req, stream, head),
      beforeDrain: () => door.drain(),
    };
  },
};
