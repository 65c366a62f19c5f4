import { LIMITS } from '@wts/contracts';
import { GroupCache, STANDBY_TIMEOUT_MS, Standby, SYNC_SCHEMA } from '@wts/read-model';
import { standbyMetrics } from '@wts/read-model/metrics';
import { openServiceClient } from '@wts/service-kit/call';
import { parseReplaySecrets, type ConfigOf } from '@wts/service-kit/config';
import { Contention, FairGate, LoopTurns } from '@wts/service-kit/fairness';
import type { ServiceContext, ServiceDefinition } from '@wts/service-kit/life';
import { checkPostgres, openPostgres, type PostgresOptions } from '@wts/service-kit/postgres';
import { createApp, notFoundAndErrors } from '@wts/service-kit/routes';
import { settings } from './config.ts';
import { Answers } from './domain/answer-bytes.ts';
import { Documents } from './graphql/documents.ts';
import { readAllowedDocuments } from './graphql/allowed-documents.ts';
import { LongTurns } from './graphql/long-turns.ts';
import { SCHEMA } from './graphql/schema.ts';
import { mountGraphql } from './http/graphql.ts';
import { mountSchema } from './http/schema.ts';
import { GRAPH_LIMITS } from './limits.ts';
import { operationMetrics } from './graphql/metrics.ts';
import { Statements, type Server } from './store/statements.ts';

type Config = ConfigOf<typeof settings>;

/**
 * GraphQL over the records of the sync service: `graphql/` decides what may run, `queries/` reads by SQL, `commands/` changes by
 * commits of the sync service. The service owns no data.
 */
export const graphService: ServiceDefinition<Config> = {
  name: 'graph',
  settings,
  reads: SYNC_SCHEMA,
  async open(kit, config) {
    const { log, metrics, readiness, signal } = kit;
    await checkPostgres({ url: config.databaseUrl, applicationName: 'wts-graph', log, readiness, signal });
    const contention = new Contention(kit.networks.of);
    const primary = openServer(kit, contention, { url: config.databaseUrl, poolMax: config.poolMax, readiness });
    const replica = openReplica(kit, contention, config);
    const observe = standbyMetrics(metrics);
    const sources = {
      pool: primary.pool,
      standby: replica && new Standby({ pool: replica.pool, logger: log, observe }),
      statements: new Statements(replica === null ? [primary] : [primary, replica]),
      groupCache: new GroupCache(),
    };
    const services = {
      sync: openServiceClient(kit, 'sync', config.syncUrls),
      workspace: openServiceClient(kit, 'workspace', config.workspaceUrls),
      auth: openServiceClient(kit, 'auth', config.authUrls),
      secret: parseReplaySecrets(config.replaySecret)[0],
    };
    const operations = operationMetrics(metrics);
    const documents = new Documents({
      schema: SCHEMA,
      ...(config.documentsFile === undefined ? {} : { allowed: readAllowedDocuments(config.documentsFile) }),
      observe: (outcome) => operations.documentFound(outcome),
    });
    operations.watchDocuments(documents);
    const answers = new Answers({ networkOf: kit.networks.of });
    operations.watchAnswers(answers);
    const app = createApp(kit);
    const { deadlineMs } = config;
    mountGraphql(app, {
      sources,
      services,
      schema: SCHEMA,
      documents,
      answers,
      turns: new LoopTurns(contention, GRAPH_LIMITS.turnFields),
      longTurns: new LongTurns(kit.networks.of),
      metrics: operations,
      deadlineMs,
    });
    mountSchema(app);
    notFoundAndErrors(app);
    return { app, host: config.host, port: config.port };
  },
};

/** Not part of readiness: while the database replica is unavailable, the primary serves the reads. */
function openReplica(kit: ServiceContext, contention: Contention, { replicaUrl: url, poolMax }: Config): Server | null {
  return url === undefined ? null : openServer(kit, contention, { url, poolMax, timeoutMs: STANDBY_TIMEOUT_MS });
}

function openServer(
  { log, metrics, stack }: ServiceContext,
  contention: Contention,
  options: Pick<PostgresOptions, 'url' | 'poolMax' | 'readiness' | 'timeoutMs'>,
): Server {
  const { pool } = openPostgres({ ...options, applicationName: 'wts-graph', log, metrics, stack });
  const { url } = options;
  const { pool: cancelPool } = openPostgres({
    url,
    poolMax: GRAPH_LIMITS.cancelConnections,
    applicationName: 'wts-graph-cancel',
    log,
    stack,
  });
  const gate = new FairGate({
    slots: options.poolMax,
    contention,
    // One person has all connections but one, or half of them for long statements, which do not end for others.
    slotsOfOneMax: Math.ceil(options.poolMax / 2),
    longMs: GRAPH_LIMITS.statementLongMs,
    waitMs: LIMITS.graphDeadlineMs,
    waitingMax: GRAPH_LIMITS.statementsWaitingMax,
    refusal: 'Too many queries are running',
  });
  return { pool, cancelPool, gate };
}
