import type { Server } from 'node:http';
import { parsePrivateKey, tokenMinter, tokenReader, type MintToken, type ServiceKey } from '@wts/access';
import type { ServiceName } from '@wts/contracts';
import type { Express } from 'express';
import type { DestinationStream } from 'pino';
import type { Registry } from 'prom-client';
import type { CallerConfig, EntryTraceConfig, ServiceConfig } from '../config/service-settings.ts';
import { serviceSettings } from '../config/service-settings.ts';
import { localHost } from '../config/local-host.ts';
import { ConfigError, parseSettings, type Environment, type Setting } from '../config/settings.ts';
import { setOtherPassword } from '../config/database-passwords.ts';
import { CallerNetworks } from '../fairness/index.ts';
import { Connections } from '../http/connections.ts';
import type { HttpOptions } from '../http/request-context.ts';
import type { ServerCallers, UpgradeListener } from '../http/server.ts';
import { closeNow, createHttpServer, drainServer, listen, onUpgrade } from '../http/server.ts';
import type { ReadSchema, ServiceMigrations } from '../migrate/recorded.ts';
import { createLogger, type Logger } from '../observe/logger.ts';
import { createMetrics, serveMetrics, watchConnections } from '../observe/metrics.ts';
import { parseRatio } from '../config/sampling.ts';
import { startTracing, type TracingOptions } from '../observe/tracing.ts';
import { buildOf, type Build } from '../config/build.ts';
import { logListening } from './log-listening.ts';
import { connectionsWithin, openFilesMax } from './files.ts';
import { Readiness } from '../observe/readiness.ts';

/** A service: its settings, and how it opens what it needs. */
export interface ServiceDefinition<C> {
  readonly name: string;
  readonly settings: { readonly [K in keyof C]: Setting<C[K]> };
  /** Files per connection of a caller: two when the service opens a connection of its own for each. */
  readonly filesPerConnection?: number;
  /** A schema of another service that it reads. The service is not ready before the schema has this migration or a later one. */
  readonly reads?: ReadSchema;
  open(kit: ServiceContext, config: C): Promise<Opened>;
}

/** What a service returns when everything it needs is open. */
export interface Opened {
  readonly app: Express;
  readonly onUpgrade?: UpgradeListener;
  readonly port: number;
  readonly host: string;
  /** Clients of the service; by default other services. */
  readonly callers?: ServerCallers;
  /** Called with the server before its port opens, to add listeners. */
  readonly prepare?: (server: Server) => void;
  /** Runs before the port closes: closes long-lived connections, whose clients then connect to another replica. */
  readonly beforeDrain?: () => Promise<void>;
}

/** What a service is given. Resources on `stack` are closed in reverse order after the last request ended. */
export interface ServiceContext {
  readonly name: string;
  readonly build: Build;
  readonly log: Logger;
  readonly stack: AsyncDisposableStack;
  readonly metrics: Registry;
  readonly readiness: Readiness;
  readonly http: HttpOptions;
  /** Shared by all ports of the process. */
  readonly connections: Connections;
  /** Mints the tokens of calls to another service. Throws for a service without INTERNAL_TOKEN_KEY. */
  readonly mintTokenFor: (to: ServiceName) => MintToken;
  readonly addressRefreshMs: number;
  /** The networks of the people on whose behalf this service is called. */
  readonly networks: CallerNetworks;
  /** Aborts when draining begins: background loops end. */
  readonly signal: AbortSignal;
}

export interface RunningService {
  /** Address on this machine. */
  readonly url: string;
  readonly port: number;
  readonly log: Logger;
  /** Time that `close` takes at most, without closing the stores. */
  readonly stopMsMax: number;
  /** Drains and closes everything; the same promise however often it is called. */
  close(): Promise<void>;
}

/** Of services with a database. */
interface DatabaseConfig {
  readonly databaseUrl: string;
  readonly replicaUrl: string;
  readonly otherPassword: string;
}

interface StartOptions {
  readonly logTo?: DestinationStream;
  /** Those that the schema of the service must have before it is ready. */
  readonly migrations?: ServiceMigrations;
}

/** With the settings that only some services have. */
type ConfigOfSome<C> = C & ServiceConfig & Partial<CallerConfig & DatabaseConfig & EntryTraceConfig>;

/** Starts a service in this process. Rejects with a ConfigError, or when a resource cannot be opened. */
export async function startService<C>(
  definition: ServiceDefinition<C>,
  env: Environment,
  options: StartOptions = {},
): Promise<RunningService> {
  const { name } = definition;
  const settings = { ...serviceSettings, ...definition.settings };
  const config = parseSettings(settings, env) as ConfigOfSome<C>;
  setOtherPassword([config.databaseUrl, config.replicaUrl], config.otherPassword);
  const log = createLogger({ name, level: config.logLevel, ...(options.logTo && { destination: options.logTo }) });
  await using stack = new AsyncDisposableStack();
  const draining = new AbortController();
  const readiness = await openReadiness(log, config, [options.migrations, definition.reads]);
  const build = buildOf(config);
  const { registry, requests } = createMetrics(name, build);
  const { connectionsMax: wanted } = config;
  const filesEach = definition.filesPerConnection ?? 1;
  const connections = new Connections(connectionsWithin(openFilesMax(), { wanted, filesEach }, log), log);
  watchConnections(registry, connections);
  stack.use(await startTracing({ service: name, build, ...tracesOf(config) }));
  if (config.metricsPort > 0) {
    const metrics = await serveMetrics(registry, config.host, config.metricsPort);
    stack.defer(() => closeNow(metrics));
  }
  const key = tokenKeyOf(name, config);
  const readToken = tokenReader(name, config.internalTokenPublicKeys);
  const networks = new CallerNetworks();
  const http: HttpOptions = {
    log,
    readToken,
    networks,
    requests,
    checkReplies: config.checkReplies,
    // From SIGTERM on, also while it still accepts requests: a connection that is closed later, between two requests, can lose one.
    isDraining: () => readiness.isDraining,
  };
  const kit: ServiceContext = {
    name,
    build,
    log,
    stack,
    metrics: registry,
    readiness,
    http,
    connections,
    mintTokenFor: (to) => {
      if (key === null) throw new Error(`${name} calls ${to}, but its settings have no INTERNAL_TOKEN_KEY`);
      return tokenMinter({ from: name, to, key });
    },
    addressRefreshMs: config.addressRefreshMs,
    networks,
    signal: draining.signal,
  };
  const { opened, server, port } = await open(definition, kit, config, draining);
  logListening(log, opened.host, port, build);
  const resources = stack.move();
  let closing: Promise<void> | undefined;
  return {
    url: `http://${localHost(opened.host)}:${port}`,
    port,
    log,
    stopMsMax: config.shutdownDelayMs + config.shutdownGraceMs,
    close: () => {
      closing ??= close({ opened, server, resources, draining, readiness, log, config });
      return closing;
    },
  };
}

async function openReadiness(
  log: Logger,
  { databaseUrl }: Partial<DatabaseConfig>,
  schemas: readonly (ServiceMigrations | ReadSchema | undefined)[],
): Promise<Readiness> {
  const readiness = new Readiness(log);
  if (databaseUrl === undefined) return readiness;
  // Loads pg, which a service without a database has not.
  const { schemaCheck } = await import('../migrate/schema-check.ts');
  for (const needed of schemas)
    if (needed !== undefined) readiness.add(`schema ${needed.schema}`, schemaCheck(databaseUrl, needed));
  return readiness;
}

async function open<C>(
  definition: ServiceDefinition<C>,
  kit: ServiceContext,
  config: C,
  draining: AbortController,
): Promise<{ opened: Opened; server: Server; port: number }> {
  try {
    const opened = await definition.open(kit, config);
    const server = createHttpServer(opened.app, {
      log: kit.log,
      connections: kit.connections,
      callers: opened.callers ?? 'services',
    });
    if (opened.onUpgrade !== undefined) onUpgrade(server, opened.onUpgrade, kit.log);
    opened.prepare?.(server);
    return { opened, server, port: await listen(server, opened.host, opened.port) };
  } catch (failure) {
    // Closing the stack waits for background loops, which end with this signal.
    draining.abort();
    throw failure;
  }
}

interface Closing {
  readonly opened: Opened;
  readonly server: Server;
  readonly resources: AsyncDisposableStack;
  readonly draining: AbortController;
  readonly readiness: Readiness;
  readonly log: Logger;
  readonly config: ServiceConfig;
}

/** First /ready fails, so that balancers send no new requests; then the port closes, requests under way end, resources close. */
async function close({ opened, server, resources, draining, readiness, log, config }: Closing): Promise<void> {
  readiness.drain();
  log.info('draining');
  if (config.shutdownDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, config.shutdownDelayMs));
  draining.abort();
  const drained = drainServer(server, config.shutdownGraceMs);
  try {
    await opened.beforeDrain?.();
  } catch (err) {
    log.warn({ err }, 'could not close all sockets gracefully');
  }
  const { cut } = await drained;
  if (cut) log.warn('requests were aborted when the grace period ended');
  await resources.disposeAsync();
  log.info('stopped');
}

/** A service that decides nothing records what its callers record. */
function tracesOf(config: ServiceConfig & Partial<EntryTraceConfig>): Omit<TracingOptions, 'service' | 'build'> {
  const { otelEndpoint: endpoint, tracesSampler: sampler, tracesSamplerArg: ratio } = config;
  const decides = sampler !== undefined && ratio !== undefined;
  return { endpoint, sampling: decides ? { sampler, ratio: parseRatio(ratio) } : null };
}

/** The others accept a key only when it is in the list, so a start without it is refused. */
export function tokenKeyOf(name: string, config: ServiceConfig & Partial<CallerConfig>): ServiceKey | null {
  if (config.internalTokenKey === undefined) return null;
  const key = parsePrivateKey(config.internalTokenKey);
  const listed = config.internalTokenPublicKeys.get(name as ServiceName) ?? [];
  if (listed.some(({ id }) => id === key.id)) return key;
  throw new ConfigError([`INTERNAL_TOKEN_PUBLIC_KEYS has no key of ${name} that belongs to its INTERNAL_TOKEN_KEY`]);
}
