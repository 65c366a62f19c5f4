import { addressGuard, openResolver, type ConnectOptions } from '@wts/service-kit/egress';
import { Roles, shardCheck, SYNC_SCHEMA } from '@wts/read-model';
import { parseReplaySecrets, type ConfigOf } from '@wts/service-kit/config';
import type { ServiceContext, ServiceDefinition } from '@wts/service-kit/life';
import { openNats } from '@wts/service-kit/nats';
import { idempotencyKeys, openPostgres, openServicePostgres } from '@wts/service-kit/postgres';
import { labelShard } from '@wts/service-kit/observe';
import { createApp, idempotency, notFoundAndErrors } from '@wts/service-kit/routes';
import type { Pool } from 'pg';
import { streamOf } from '@wts/contracts';
import { announce, announceTraces, onAnnounced, type Announcing } from './announcements.ts';
import { checkEndpointUrl } from './attempt/endpoint-url.ts';
import { attemptMetrics } from './attempt/metrics.ts';
import { openSender } from './attempt/send.ts';
import { traceAttempts } from './attempt/trace-attempts.ts';
import { settings } from './config.ts';
import type { Context } from './context.ts';
import { disableRuleOf } from './domain/disable-rule.ts';
import { EventTraces } from './domain/event-traces.ts';
import { parseDuration, parseRetrySchedule } from './domain/schedule.ts';
import { parseSecretKeys, type SecretKeys } from '@wts/service-kit/sealing';
import { enqueueMetrics } from './enqueue/metrics.ts';
import { openEnqueue } from './enqueue/enqueue.ts';
import { mountDeliveries } from './http/deliveries.ts';
import { mountEndpoints } from './http/endpoints.ts';
import { mountMoves } from './http/moves.ts';
import { shareByPerson } from './http/share-by-person.ts';
import { openLanes, type Lanes } from './lanes/lanes.ts';
import { laneMetrics, watchLanes } from './lanes/metrics.ts';
import { MANAGEMENT } from './limits.ts';
import { deliveryStore } from './store/deliveries.ts';
import { endpointStore } from './store/endpoints.ts';
import { enqueueTest } from './store/enqueue.ts';
import { movedEndpointStore } from './store/moved-endpoints.ts';
import { maintainTables } from './table-maintenance.ts';

type Config = ConfigOf<typeof settings>;

/**
 * Webhook endpoints, the events of the log for them, and the attempts to deliver these. Entries become deliveries in
 * `enqueue/`, deliveries become attempts in `lanes/`, one attempt is made in `attempt/`; `http/` is for people.
 */
export const webhookDispatcher: ServiceDefinition<Config> = {
  name: 'webhook-dispatcher',
  settings,
  reads: SYNC_SCHEMA,
  async open(kit, config) {
    const { log, stack, metrics } = kit;
    labelShard(kit, config);
    const applicationName = 'wts-webhook-dispatcher';
    const { databaseUrl } = config;
    const { pool } = await openServicePostgres(kit, { ...config, refusal: shardCheck(config.shard) });
    const management = { url: databaseUrl, poolMax: MANAGEMENT.connections, applicationName, log, metrics, stack };
    const { knex, pool: managementPool } = openPostgres(management);
    const nats = openNats({ ...config, name: applicationName, log, stack });
    const secretKeys = config.secretKey === undefined ? null : parseSecretKeys(config.secretKey);
    stack.use(maintainTables(kit, { pool, databaseUrl, secretKeys, logger: log }));
    const network = networkOf(kit, config);
    const traces = new EventTraces();
    const announcing = { nats, of: streamOf(config.shard) };
    const lanes = openAttempts(kit, config, { pool, announcing, network, traces, secretKeys });
    const served = lanes ?? announceOnly(announcing);
    const wake = (endpointIds: readonly string[]): void => served.wake(endpointIds);
    const traced = { traces, onTraced: (some: ReadonlyMap<string, string>): void => announceTraces(announcing, some) };
    const enqueued = { ...traced, onEnqueued: wake, metrics: enqueueMetrics(metrics), logger: log };
    const enqueue = stack.use(openEnqueue(kit, { pool, databaseUrl, ...announcing, ...enqueued }));
    onAnnounced(announcing, ({ endpointIds, workspaceIds, traces: others }) => {
      for (const [eventId, traceparent] of Object.entries(others)) traces.add([eventId], traceparent);
      if (endpointIds.length > 0) lanes?.announced(endpointIds);
      if (workspaceIds.length > 0) enqueue.follow(workspaceIds);
    });

    const context: Context = {
      roles: new Roles(managementPool),
      endpoints: endpointStore(knex),
      deliveries: deliveryStore(knex),
      movedEndpoints: movedEndpointStore(managementPool),
      idempotency: idempotency(
        idempotencyKeys(knex, 'webhooks.idempotency_keys'),
        parseReplaySecrets(config.replaySecret),
      ),
      secretKeys,
      refusalOfUrl: (url) => checkEndpointUrl(url, network),
      announce: (endpointIds) => served.change(endpointIds),
      // Reaches this replica too.
      follow: (workspaceId) => announce(announcing, { workspaceIds: [workspaceId] }),
      enqueueTest: (endpointId, event) => enqueueTest(managementPool, endpointId, event, MANAGEMENT.testsMax),
    };
    const app = createApp(kit);
    const people = shareByPerson();
    mountEndpoints(app, context, people);
    mountDeliveries(app, context, people);
    mountMoves(app, context);
    notFoundAndErrors(app);
    return { app, host: config.host, port: config.port };
  },
};

/** How consumers are found and which of them may be called. */
function networkOf({ metrics: registry }: ServiceContext, config: Config): NetworkOptions {
  const metrics = attemptMetrics(registry);
  return {
    guard: addressGuard(config.allowedCidrs),
    resolver: openResolver({ servers: config.dnsServers, metrics }),
    extraCaFile: config.extraCaFile,
    metrics,
  };
}

type NetworkOptions = ConnectOptions & { readonly metrics: ReturnType<typeof attemptMetrics> };

/** Other replicas may have a key, and attempt what this one cannot. */
function announceOnly(announcing: Announcing<'connection'>): Pick<Lanes, 'wake' | 'change'> {
  const announceEndpoints = (endpointIds: readonly string[]): void => announce(announcing, { endpointIds });
  return { wake: announceEndpoints, change: announceEndpoints };
}

interface AttemptsOptions {
  readonly pool: Pool;
  readonly announcing: Announcing<'connection'>;
  readonly network: NetworkOptions;
  readonly traces: EventTraces;
  readonly secretKeys: SecretKeys | null;
}

/** Null without a key: then no secret can be read, and no attempt can be signed. */
function openAttempts(
  { log, stack, metrics, signal }: ServiceContext,
  config: Config,
  { pool, announcing, network, traces, secretKeys: keys }: AttemptsOptions,
): Lanes | null {
  if (keys === null) {
    log.warn('WEBHOOK_SECRET_KEY is not set: no endpoint can be created, and no delivery is attempted');
    return null;
  }
  const schedule = parseRetrySchedule(config.retrySchedule);
  const lanes = stack.use(
    openLanes({
      pool,
      send: traceAttempts(openSender({ ...network, log, stack }), traces, config.sendsTraceparent),
      keys,
      schedule,
      disableRule: disableRuleOf(parseDuration(config.disableAfter), schedule),
      announce: (endpointIds) => announce(announcing, { endpointIds }),
      metrics: laneMetrics(metrics),
      signal,
      log,
    }),
  );
  watchLanes(metrics, lanes.gauges);
  return lanes;
}
