import { parsePrivateKey, parsePublicKeys, weaknessOf, type PublicKeys } from '@wts/access';
import { LIMITS } from '@wts/contracts';
import { defineSettings, refusalOf, setting, type ConfigOf } from './settings.ts';
import { SERVICE_LIMITS } from '../limits.ts';
import { parseRatio, SAMPLERS } from './sampling.ts';

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
  // Keeps authentication.internal.rotation.
  internalTokenPublicKeys: setting.json<PublicKeys, { doc: string }>('INTERNAL_TOKEN_PUBLIC_KEYS', {
    read: parsePublicKeys,
    doc: 'Public keys (Ed25519) of the services that call others, the same for all services: {"<service>": ["<SPKI in base64 of DER>"], ...}. A service with two keys is accepted with either, to change its INTERNAL_TOKEN_KEY without an outage: `npm run secrets -- rotate internal-keys`, see infra/docs/security.md.',
  }),
  connectionsMax: setting.int('CONNECTIONS_MAX', {
    default: LIMITS.connectionsMax,
    min: LIMITS.connectionsMin,
    doc: 'Largest number of client connections, including sockets, over all ports; a further one gets 503. The service uses a smaller number when its limit of open files (ulimit -n) is low.',
  }),
  addressRefreshMs: setting.durationMs('ADDRESS_REFRESH_MS', {
    default: SERVICE_LIMITS.addressRefreshMs,
    min: 100,
    max: 600_000,
    doc: 'How often the names of other services are resolved again. The service uses every address of a name. Lower it when addresses change often.',
  }),
  shutdownGraceMs: setting.durationMs('SHUTDOWN_GRACE_MS', {
    default: SERVICE_LIMITS.drainMs,
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
    doc: 'Address of an OpenTelemetry collector (OTLP over HTTP) that receives traces. Without it no traces are made.',
  }),
});

/** For the service at which traces begin. The others record what it records. */
export const entryTraceSettings = defineSettings({
  tracesSampler: setting.oneOf('OTEL_TRACES_SAMPLER', SAMPLERS, {
    default: 'parentbased_traceidratio',
    doc: 'Which requests are traced, by the names of OpenTelemetry. Only the gateway decides it, for all services. parentbased: a request of TRACE_PARENTS as they decided.',
  }),
  tracesSamplerArg: setting.text('OTEL_TRACES_SAMPLER_ARG', {
    default: '0.01',
    refuse: refusalOf(parseRatio),
    doc: 'Of the samplers with a ratio: the share of requests that are traced, from 0 to 1.',
  }),
});

/** For a service that calls others (`CALLS`), which spreads it into its own settings. */
export const callerSettings = defineSettings({
  internalTokenKey: setting.text('INTERNAL_TOKEN_KEY', {
    secret: true,
    refuse: refusalOf(parsePrivateKey),
    doc: 'Private key (Ed25519) that signs the tokens of calls of this service to others: PKCS #8 in base64 of DER. Every service has its own, which no other service may have; its public key is in INTERNAL_TOKEN_PUBLIC_KEYS.',
  }),
});

/** For a service that recognizes a repeated request by a secret. */
export const replaySettings = defineSettings({
  replaySecret: setting.text('REPLAY_SECRET', {
    secret: true,
    refuse: refusalOf(parseReplaySecrets),
    doc: 'Secret by which a service recognizes a repeated request, and with which it encrypts the replies that it stores for an Idempotency-Key: at least 32 random characters, the same for all replicas of a service, best another one for each service. Several may be separated by commas: the first is used, all are tried. `npm run secrets -- rotate replay` changes it without an outage, see infra/docs/security.md.',
  }),
});

/** The first one is used, all are tried. */
export function parseReplaySecrets(text: string): [string, ...string[]] {
  const [first = '', ...others] = text.split(',').map((secret) => secret.trim());
  for (const secret of [first, ...others]) {
    const weakness = weaknessOf(secret);
    if (weakness !== null) throw new Error(weakness);
  }
  return [first, ...others];
}

export type ServiceConfig = ConfigOf<typeof serviceSettings>;
export type EntryTraceConfig = ConfigOf<typeof entryTraceSettings>;
export type CallerConfig = ConfigOf<typeof callerSettings>;
