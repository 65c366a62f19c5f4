import { weaknessOf } from '@wts/access';
import { LIMITS } from '@wts/contracts';
import type { ConfigOf } from './settings.ts';
import { defineSettings, setting } from './settings.ts';

const BUILD = { optional: true, pattern: /^[\w.+-]{1,64}$/ } as const;

/** What `--version` reads, without the settings that a service needs to start. */
export const buildSettings = defineSettings({
  buildVersion: setting.text('BUILD_VERSION', {
    ...BUILD,
    doc: 'Version that --version, the log, the metrics and the description show. Default: that of the package.json of the repository. Set it when you build an image.',
  }),
  buildCommit: setting.text('BUILD_COMMIT', {
    ...BUILD,
    doc: 'Git commit that is shown beside the version. Set it when you build an image; npm start sets it.',
  }),
});

/** The settings of every service. A service spreads them into its own and may change a default; the others are read too. */
export const serviceSettings = defineSettings({
  host: setting.text('HOST', {
    default: '127.0.0.1',
    doc: 'Address that the service listens on. The default accepts connections from this machine only; set 0.0.0.0 or :: to accept them from other machines. Only the gateway may be reachable from a public network.',
  }),
  port: setting.port('PORT', { default: 0, doc: 'Port that the service listens on; 0 uses any free port.' }),
  metricsPort: setting.port('METRICS_PORT', {
    default: 0,
    doc: 'Port of /metrics for Prometheus; 0 turns the endpoint off.',
  }),
  logLevel: setting.oneOf('LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    default: 'info',
    doc: 'Least severe level that is logged. A line with level error needs an operator. Set debug to look for a problem.',
  }),
  internalTokenSecret: setting.text('INTERNAL_TOKEN_SECRET', {
    secret: true,
    refuse: weaknessOf,
    doc: 'Secret that signs the tokens of calls between services: at least 32 random characters, the same for all services.',
  }),
  // Keeps authentication.internal.rotation.
  internalTokenSecretAccepted: setting.text('INTERNAL_TOKEN_SECRET_ACCEPTED', {
    optional: true,
    secret: true,
    refuse: weaknessOf,
    doc: 'Second secret whose tokens are accepted, to change INTERNAL_TOKEN_SECRET without an outage: the new secret before the change, the old one after it.',
  }),
  connectionsMax: setting.int('CONNECTIONS_MAX', {
    default: LIMITS.connectionsMax,
    min: LIMITS.connectionsMin,
    doc: 'Largest number of client connections, including sockets, over all ports; a further one gets 503. The service uses a smaller number when its limit of open files (ulimit -n) is low.',
  }),
  addressRefreshMs: setting.durationMs('ADDRESS_REFRESH_MS', {
    default: LIMITS.addressRefreshMs,
    min: 100,
    max: 600_000,
    doc: 'How often the names of other services are resolved again. The service uses every address of a name. Lower it when addresses change often.',
  }),
  shutdownGraceMs: setting.durationMs('SHUTDOWN_GRACE_MS', {
    default: LIMITS.drainMs,
    max: 600_000,
    doc: 'How long requests in progress may take after SIGTERM before they are broken off. Together with SHUTDOWN_DELAY_MS, keep it below the time after which the platform kills the process.',
  }),
  shutdownDelayMs: setting.durationMs('SHUTDOWN_DELAY_MS', {
    default: 0,
    max: 600_000,
    doc: 'How long the service still accepts requests after SIGTERM, while /ready answers 503. Set it to the time in which your load balancer notices that.',
  }),
  checkReplies: setting.flag('CHECK_REPLIES', {
    default: false,
    doc: 'Checks every answer against its contract and fails the request when they differ. Set it in tests and staging.',
  }),
  ...buildSettings,
  otelEndpoint: setting.url('OTEL_EXPORTER_OTLP_ENDPOINT', {
    optional: true,
    protocols: ['http', 'https'],
    doc: 'Address of an OpenTelemetry collector (OTLP over HTTP) that receives traces. Without it no traces are made.',
  }),
});

export type ServiceConfig = ConfigOf<typeof serviceSettings>;
