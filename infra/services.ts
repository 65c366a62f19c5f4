/**
 * What each service needs from an installation, as data: the local stack reads it, and so can a compose file or a chart. A test
 * compares it with the settings that each service declares (infra/local/test/settings.test.ts), from which settings.md is generated.
 * Whom a service calls is in packages/contracts (`CALLS`), and so are the users of NATS.
 */
export interface ServiceRow {
  readonly name: string;
  /** One for all cells of an installation. The others are parts of each cell. */
  readonly isGlobal?: true;
  /** Its role of PostgreSQL, from which infra/postgres/roles.sql is generated. */
  readonly database?: DatabaseUse;
  /** Settings that the installation decides, all of them secret or the same for several services. */
  readonly given: readonly GivenSetting[];
  /** Settings of its own that an operator may change, besides `OPTIONAL_EVERYWHERE`. */
  readonly optional?: readonly string[];
  /** Resident memory of a process as measured by infra/bench/results: without work, and the most under load where a benchmark has one. */
  readonly memoryMb: { readonly idle: number; readonly busy?: number };
  /** Temporary files, when it writes any. */
  readonly temporaryMb?: number;
  /** What it connects to besides services, PostgreSQL and NATS. */
  readonly outside?: readonly OutsideUse[];
}

/** `consumers`: of webhooks. `identity-providers`: those of JWT_ISSUERS, of OIDC_PROVIDER, and documents of clients. */
type OutsideUse = 'consumers' | 'identity-providers' | 'mail';

interface DatabaseUse {
  readonly role: string;
  /** Its own schema, with the migrations of `src/main.ts migrate`. Null: it only reads that of sync. */
  readonly schema: string | null;
  readonly readsSync: boolean;
  /** Services above it whose migrations must run before its own. */
  readonly migratesAfter?: readonly string[];
  /** Connections of a process at most: `DATABASE_POOL_MAX` by default, and those that it opens besides, each lease with one. */
  readonly connections: { readonly pool: number; readonly besides: number };
}

/** The ports of the gateway, by their settings: the only public ones. */
export const PUBLIC_PORTS = { PORT: 4000, AUTH_PORT: 4001 } as const;

/** The settings that an installation decides, and whether they are secret. */
export const GIVEN_SETTINGS = {
  NATS_URL: { secret: true },
  API_KEY_PREFIX: { secret: false },
  JWT_ISSUERS: { secret: true },
  BASE_URL: { secret: false },
  AUTH_URL: { secret: false },
  AUTH_PORT: { secret: false },
  AUTH_SECRET_KEY: { secret: true },
  SMTP_URL: { secret: true },
  MAIL_FROM: { secret: false },
  REPLAY_SECRET: { secret: true },
  WEBHOOK_SECRET_KEY: { secret: true },
  WEBHOOK_ALLOWED_CIDRS: { secret: false },
  WEBHOOK_EXTRA_CA_FILE: { secret: false },
} as const;

/** Secrets of which every service has its own value. The others have the same value in every service. */
export const OWN_SECRETS = [
  'INTERNAL_TOKEN_KEY',
  'DATABASE_URL',
  'DATABASE_OTHER_PASSWORD',
  'MIGRATION_DATABASE_URL',
  'DATABASE_REPLICA_URL',
  'NATS_URL',
  'NATS_OTHER_PASSWORD',
  'REPLAY_SECRET',
] as const;

export type GivenSetting = keyof typeof GIVEN_SETTINGS;

/** Settings of every service that an operator may change. The last two are read by OpenTelemetry. */
export const OPTIONAL_EVERYWHERE = [
  'BUILD_COMMIT',
  'BUILD_VERSION',
  'LOG_LEVEL',
  'CHECK_REPLIES',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_RESOURCE_ATTRIBUTES',
] as const;

/** For services that verify credentials. */
const VERIFIES = ['NATS_URL', 'API_KEY_PREFIX', 'JWT_ISSUERS', 'BASE_URL', 'AUTH_URL'] as const;

/** Every service, in the order in which they start. They stop in reverse order. */
export const SERVICES = [
  {
    name: 'sync',
    database: { role: 'wts_sync', schema: 'sync', readsSync: false, connections: { pool: 20, besides: 9 } },
    given: VERIFIES,
    memoryMb: { idle: 124, busy: 503 },
    // `spoolsDiskBytesMax`, and some.
    temporaryMb: 2304,
    optional: ['SHARD'],
    outside: ['identity-providers'],
  },
  {
    name: 'auth',
    isGlobal: true,
    database: { role: 'wts_auth', schema: 'auth', readsSync: false, connections: { pool: 10, besides: 1 } },
    given: [
      'NATS_URL',
      'API_KEY_PREFIX',
      'BASE_URL',
      'AUTH_URL',
      'AUTH_SECRET_KEY',
      'REPLAY_SECRET',
      'SMTP_URL',
      'MAIL_FROM',
    ],
    optional: [
      'ACCOUNTS',
      'CLIENT_REGISTRATION',
      'OIDC_PROVIDER',
      'PASSWORD_COST_LOG2',
      'SECOND_FACTOR',
      'SECURITY_RECORD_DAYS',
      'SMTP_EXTRA_CA_FILE',
    ],
    // Busy: three passwords are hashed at once, in 128 MB each.
    memoryMb: { idle: 134, busy: 518 },
    outside: ['identity-providers', 'mail'],
  },
  {
    name: 'workspace',
    database: {
      role: 'wts_workspace',
      schema: 'workspace',
      readsSync: true,
      migratesAfter: ['auth'],
      connections: { pool: 10, besides: 0 },
    },
    given: ['NATS_URL', 'REPLAY_SECRET'],
    optional: ['WRONG_CODES_PER_MINUTE'],
    memoryMb: { idle: 122 },
  },
  {
    name: 'webhook-dispatcher',
    database: { role: 'wts_webhooks', schema: 'webhooks', readsSync: true, connections: { pool: 10, besides: 6 } },
    given: ['NATS_URL', 'REPLAY_SECRET', 'WEBHOOK_SECRET_KEY', 'WEBHOOK_ALLOWED_CIDRS', 'WEBHOOK_EXTRA_CA_FILE'],
    optional: [
      'SHARD',
      'WEBHOOK_DISABLE_AFTER',
      'WEBHOOK_DNS_SERVERS',
      'WEBHOOK_RETRY_SCHEDULE',
      'WEBHOOK_TRACEPARENT',
    ],
    memoryMb: { idle: 127, busy: 349 },
    outside: ['consumers'],
  },
  {
    name: 'graph',
    // Reads the models and writes nothing, because sync commits every change. Takes no advisory locks.
    database: { role: 'wts_graph', schema: null, readsSync: true, connections: { pool: 10, besides: 2 } },
    given: ['REPLAY_SECRET'],
    memoryMb: { idle: 148, busy: 314 },
  },
  { name: 'agent', given: ['BASE_URL', 'AUTH_URL'], memoryMb: { idle: 124 } },
  {
    name: 'gateway',
    given: [...VERIFIES, 'AUTH_PORT'],
    optional: [
      'CORS_ORIGINS',
      'OTEL_TRACES_SAMPLER',
      'OTEL_TRACES_SAMPLER_ARG',
      'RATE_LIMITS',
      'TRACE_PARENTS',
      'TRUSTED_PROXIES',
    ],
    memoryMb: { idle: 119 },
    outside: ['identity-providers'],
  },
] as const satisfies readonly ServiceRow[];
