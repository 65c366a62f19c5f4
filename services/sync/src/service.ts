import { LogReader } from '@wts/log';
import type { ConfigOf } from '@wts/service-kit/config';
import type { ServiceContext, ServiceDefinition } from '@wts/service-kit/life';
import { openPostgres, openServicePostgres } from '@wts/service-kit/postgres';
import { labelShard, metricsOf } from '@wts/service-kit/observe';
import { createApp, notFoundAndErrors } from '@wts/service-kit/routes';
import { GroupCache, shardCheck, STANDBY_TIMEOUT_MS, Standby } from '@wts/read-model';
import { standbyMetrics } from '@wts/read-model/metrics';
import { COMMIT_CONNECTIONS, CommitEngine } from './commit/engine.ts';
import { commitMetrics } from './commit/metrics.ts';
import { settings } from './config.ts';
import { PAGES_OF_ONE_MAX, shareConnections } from './connections.ts';
import { Pages } from './deltas/pages.ts';
import { Contention, FairGate, type FairGateOptions, LoopTurns } from '@wts/service-kit/fairness';
import { Reads } from './fairness/reads.ts';
import { Bodies } from './http/bodies.ts';
import { mountKeyedReads } from './http/keyed-reads.ts';
import { mountBootstrap } from './http/bootstrap.ts';
import { mountDeltas } from './http/deltas.ts';
import { mountInternal } from './http/internal.ts';
import { mountMoves } from './http/moves.ts';
import { mountMutate } from './http/mutate.ts';
import { mountRecords } from './http/records.ts';
import { mountSocket } from './http/socket.ts';
import { openLive } from './live.ts';
import { sweepMetrics, waitMetrics } from './metrics.ts';
import { Moves } from './moves/moves.ts';
import { openSnapshots } from './snapshots.ts';
import { COMMITTING } from './store/pipeline.ts';
import { PLANS } from './store/prepared.ts';
import { copyReads } from './queries/copies.ts';
import { RECORD_READS } from './queries/records.ts';
import { startSchedule } from './schedule/schedule.ts';
import { startSweeper } from './sweeps/sweeper.ts';
import { maintainLog, retentionOf } from './log-maintenance.ts';
import { SYNC_LIMITS } from './limits.ts';

/**
 * The one writer of every synced model and of the log. `http/` receives a change, `commit/` decides and commits it, `relay/`
 * publishes it to JetStream, the `hub/` of every replica receives it, and `socket/` sends it to clients; pollers read it by
 * `deltas/`.
 */
export const syncService: ServiceDefinition<ConfigOf<typeof settings>> = {
  name: 'sync',
  settings,
  async open(kit, config) {
    const { log, stack } = kit;
    labelShard(kit, config);
    const { pool } = await openServicePostgres(kit, { ...config, refusal: shardCheck(config.shard, { claims: true }) });
    const database = { url: config.databaseUrl, log, metrics: kit.metrics, stack };
    const committing = openPostgres({
      ...database,
      poolMax: COMMIT_CONNECTIONS,
      applicationName: 'wts-sync-commit',
      ...COMMITTING,
    });
    const logReader = new LogReader(pool);
    const networkOf = kit.networks.of;
    const contention = new Contention(networkOf);
    const engine = new CommitEngine({
      pool: committing.pool,
      contention,
      fastPath: config.commitFastPath,
      trashRetentionDays: config.trashRetentionDays,
      watch: commitMetrics(kit.metrics, () => ({ units: engine.waiting, bytes: engine.waitingBytes })),
    });
    const sweeping = openPostgres({ ...database, poolMax: 1, applicationName: 'wts-sync-sweep', settings: PLANS });
    stack.use(startSweeper(kit, { pool: sweeping.pool, engine, observe: sweepMetrics(kit.metrics) }));
    const retention = retentionOf({ days: config.retentionDays, entries: config.retentionEntries });
    stack.use(maintainLog(kit, { pool, log: logReader, databaseUrl: config.databaseUrl, retention, logger: log }));
    startSchedule(kit, sweeping.pool, engine, config);
    const standby = openStandby(kit, config);
    const turns = new LoopTurns(contention);
    const shares = shareConnections(config.poolMax);
    const waitsOf = waitMetrics(kit.metrics);
    const pageWaits = { waitMs: SYNC_LIMITS.pageWaitMs, slotsOfOneMax: PAGES_OF_ONE_MAX, watch: waitsOf('page') };
    const socketWaits = { waitMs: SYNC_LIMITS.socketReadWaitMs, watch: waitsOf('socket') };
    const reads = new Reads(pool, fairReads(shares.pages, { ...pageWaits, contention }));
    const groupCache = new GroupCache();
    const reading = { reads, groupCache, standby };
    const pages = new Pages({ ...reading, networkOf, metrics: waitsOf('page') });
    const help = 'Bytes of pages of deltas that clients have requested and not received.';
    metricsOf(kit.metrics).watch('wts_page_unsent_bytes', help, () => pages.bytes);
    const snapshots = openSnapshots({ kit, shares, pool, turns, ...reading });
    const { socketServer } = openLive({
      kit,
      config,
      turns,
      pool,
      gate: fairReads(shares.sockets, { ...socketWaits, contention }),
      groupCache,
      log: logReader,
      onCommitted: (listener) => engine.onCommitted(listener),
      openAnswers: snapshots.openAnswers,
    });

    const app = createApp({ ...kit, http: { ...kit.http, bodies: new Bodies(waitsOf('body'), turns) } });
    mountMutate(app, engine, networkOf);
    mountInternal(app, engine);
    mountRecords(app, reads, [...RECORD_READS, ...copyReads(config.shard)]);
    mountMoves(app, new Moves(pool, engine));
    mountBootstrap(app, snapshots);
    mountKeyedReads(app, snapshots.keyedReads, snapshots.openAnswers);
    mountDeltas(app, pages, turns);
    mountSocket(app);
    notFoundAndErrors(app);
    return {
      app,
      host: config.host,
      port: config.port,
      onUpgrade: (req, stream, head) => socketServer.upgrade(req, stream, head),
      beforeDrain: () => socketServer.drain(),
    };
  },
};

function fairReads(
  slots: number,
  options: Pick<FairGateOptions, 'waitMs' | 'slotsOfOneMax' | 'contention' | 'watch'>,
): FairGate {
  return new FairGate({
    slots,
    waitingMax: SYNC_LIMITS.readsWaitingMax,
    refusal: 'Too many reads are in progress',
    ...options,
  });
}

function openStandby(
  { log, stack, metrics }: ServiceContext,
  { replicaUrl: url, poolMax }: ConfigOf<typeof settings>,
): Standby | null {
  // Without a replica too, so that every sync process has the same metrics.
  const observe = standbyMetrics(metrics);
  if (url === undefined) return null;
  // Not part of readiness: while the database replica is unavailable, the primary serves the reads.
  const { pool } = openPostgres({
    url,
    poolMax,
    applicationName: 'wts-sync-read',
    timeoutMs: STANDBY_TIMEOUT_MS,
    log,
    metrics,
    stack,
  });
  return new Standby({ pool, logger: log, observe });
}
