import type { ServiceName } from '@wts/contracts';
import type { DatabaseRole } from './database/provision.ts';

/** What a service needs besides the addresses of the services it calls: its role, and environment variables that its config.ts reads. */
export interface ServiceSpec {
  /** Also its NATS user, if it has one. */
  readonly name: ServiceName;
  /** Its PostgreSQL role. A service with a role has its migrations in `src/migrate.ts`. */
  readonly role?: DatabaseRole;
  /** Services above it in `SERVICES` whose migrations must run before its own. */
  readonly migratesAfter?: readonly ServiceName[];
  readonly reads?: readonly SharedSetting[];
}

export type SharedSetting =
  | 'NATS_URL'
  | 'API_KEY_PREFIX'
  | 'JWT_ISSUERS'
  | 'BASE_URL'
  | 'AUTH_URL'
  | 'AUTH_PORT'
  | 'AUTH_SECRET_KEY'
  | 'REPLAY_SECRET'
  | 'WEBHOOK_SECRET_KEY'
  | 'WEBHOOK_ALLOWED_CIDRS'
  | 'WEBHOOK_EXTRA_CA_FILE';

/** For services that verify credentials. */
const VERIFIES: readonly SharedSetting[] = ['NATS_URL', 'API_KEY_PREFIX', 'JWT_ISSUERS', 'BASE_URL', 'AUTH_URL'];

/** Every service, in the order in which they start. They stop in reverse order. */
export const SERVICES: readonly ServiceSpec[] = [
  { name: 'sync', role: 'wts_sync', reads: VERIFIES },
  {
    name: 'auth',
    role: 'wts_auth',
    reads: ['NATS_URL', 'API_KEY_PREFIX', 'BASE_URL', 'AUTH_URL', 'AUTH_SECRET_KEY', 'REPLAY_SECRET'],
  },
  { name: 'workspace', role: 'wts_workspace', migratesAfter: ['auth'], reads: ['NATS_URL', 'REPLAY_SECRET'] },
  {
    name: 'webhook-dispatcher',
    role: 'wts_webhooks',
    reads: ['NATS_URL', 'REPLAY_SECRET', 'WEBHOOK_SECRET_KEY', 'WEBHOOK_ALLOWED_CIDRS', 'WEBHOOK_EXTRA_CA_FILE'],
  },
  { name: 'graph', role: 'wts_graph', reads: ['REPLAY_SECRET'] },
  { name: 'agent', reads: ['AUTH_URL'] },
  {
    name: 'gateway',
    reads: [...VERIFIES, 'AUTH_PORT'],
  },
];

/** The only public service: its ports are the public ports. */
export const GATEWAY = 'gateway';

/** Environment variables that every service gets unchanged. */
export const PASSED_THROUGH: readonly string[] = [
  'PATH',
  'LD_LIBRARY_PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'TMPDIR',
  'NODE_OPTIONS',
  'NODE_COMPILE_CACHE',
  'NODE_EXTRA_CA_CERTS',
  'ACCOUNTS',
  'BUILD_COMMIT',
  'BUILD_VERSION',
  'LOG_LEVEL',
  'CHECK_REPLIES',
  'CORS_ORIGINS',
  'OIDC_PROVIDER',
  'PASSWORD_COST_LOG2',
  'RATE_LIMITS',
  'TRUSTED_PROXIES',
  'WEBHOOK_DISABLE_AFTER',
  'WEBHOOK_DNS_SERVERS',
  'WEBHOOK_RETRY_SCHEDULE',
  'WRONG_CODES_PER_MINUTE',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_RESOURCE_ATTRIBUTES',
];

export function urlVariable(service: string): string {
  return `${service.toUpperCase().replaceAll('-', '_')}_SERVICE_URL`;
}
