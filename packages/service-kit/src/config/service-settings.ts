import { weaknessOf } from '@wts/access';
import { LIMITS } from '@wts/contracts';
import type { ConfigOf } from './settings.ts';
import { defineSettings, setting } from './settings.ts';

/**
 * Settings every service has. A service spreads them into its own and may give another default; those it leaves out
 * are read all the same.
 */
export const serviceSettings = defineSettings({
  host: setting.text('HOST', {
    default: '127.0.0.1',
    doc: 'Address to listen on: by default this machine only. 0.0.0.0 (or ::) opens it to other machines; of the services only the gateway is made for a public network.',
  }),
  port: setting.port('PORT', { default: 0, doc: 'Port to listen on; 0 takes a free one.' }),
  metricsPort: setting.port('METRICS_PORT', { default: 0, doc: 'Port of /metrics for Prometheus; 0 turns it off.' }),
  logLevel: setting.oneOf('LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    default: 'info',
    doc: 'Least severe level that is logged. error means that somebody must act.',
  }),
  internalTokenSecret: setting.text('INTERNAL_TOKEN_SECRET', {
    secret: true,
    refuse: weaknessOf,
    doc: 'Signs the tokens services call each other with; the same for all of them, at least 32 characters that cannot be guessed.',
  }),
  // Keeps authentication.internal.rotation.
  internalTokenSecretAccepted: setting.text('INTERNAL_TOKEN_SECRET_ACCEPTED', {
    optional: true,
    secret: true,
    refuse: weaknessOf,
    doc: 'Another secret whose tokens are accepted and that signs none: the next one before a rotation, the last one after it.',
  }),
  connectionsMax: setting.int('CONNECTIONS_MAX', {
    default: LIMITS.connectionsMax,
    min: LIMITS.connectionsMin,
    doc: 'Connections of callers, sockets among them, over all ports; one more is answered 503. Fewer where fewer files may be opened.',
  }),
  addressRefreshMs: setting.durationMs('ADDRESS_REFRESH_MS', {
    default: LIMITS.addressRefreshMs,
    min: 100,
    max: 600_000,
    doc: 'How often the names of other services are looked up again. Every address behind a name counts as one of its own.',
  }),
  shutdownGraceMs: setting.durationMs('SHUTDOWN_GRACE_MS', {
    default: LIMITS.drainMs,
    max: 600_000,
    doc: 'How long requests in progress may go on after SIGTERM.',
  }),
  shutdownDelayMs: setting.durationMs('SHUTDOWN_DELAY_MS', {
    default: 0,
    max: 600_000,
    doc: 'How long the port stays open after SIGTERM while /ready already answers 503, so that balancers notice.',
  }),
  checkReplies: setting.flag('CHECK_REPLIES', {
    default: false,
    doc: 'Checks every answer against its contract and fails the request when they differ; for tests and staging.',
  }),
  otelEndpoint: setting.url('OTEL_EXPORTER_OTLP_ENDPOINT', {
    optional: true,
    protocols: ['http', 'https'],
    doc: 'OpenTelemetry collector (OTLP over HTTP) to send traces to; without it nothing is traced.',
  }),
});

export type ServiceConfig = ConfigOf<typeof serviceSettings>;
