import type { NatsUser, ServiceName } from '@wts/contracts';
import type { DatabaseRole } from './database/provision.ts';

/** What a service needs from its surroundings, as the names of environment variables it reads in its config.ts. */
export interface ServiceSpec {
  /** Also its user of NATS. */
  readonly name: ServiceName & NatsUser;
  /** Its role in PostgreSQL; a service with one has its migrations in `src/migrate.ts`. */
  readonly role?: DatabaseRole;
  /** Services it calls: each gives `<NAME>_URL`. */
  readonly calls?: readonly string[];
  readonly reads?: readonly Setting[];
}

export type Setting = 'NATS_URL' | 'API_KEY_PREFIX' | 'JWT_ISSUERS' | 'BASE_URL' | 'AUTH_URL' | 'AUTH_PORT';

/** Every process of the system, in the order of starting; they stop in reverse. */
export const SERVICES: readonly ServiceSpec[] = [
  { name: 'sync', role: 'wts_sync', calls: ['workspace'], reads: ['NATS_URL', 'API_KEY_PREFIX', 'JWT_ISSUERS'] },
  { name: 'workspace', role: 'wts_workspace', calls: ['sync'], reads: ['NATS_URL', 'API_KEY_PREFIX'] },
  {
    name: 'gateway',
    calls: ['workspace', 'sync'],
    reads: ['NATS_URL', 'API_KEY_PREFIX', 'JWT_ISSUERS', 'BASE_URL', 'AUTH_URL', 'AUTH_PORT'],
  },
];

/** The only service the outside world talks to: its ports are the public ones. */
export const GATEWAY = 'gateway';

/** Settings of an operator that pass through to every service as they are. */
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
  'LOG_LEVEL',
  'CHECK_REPLIES',
  'CORS_ORIGINS',
  'RATE_LIMITS',
  'TRUSTED_PROXIES',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_RESOURCE_ATTRIBUTES',
];

export function urlVariable(service: string): string {
  return `${service.toUpperCase().replaceAll('-', '_')}_URL`;
}
