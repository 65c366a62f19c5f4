import { CALLS, type ServiceName } from '@wts/contracts';
// @boundaries-ignore: the rows belong to no package, because compose and chart read them too.
import {
  OPTIONAL_EVERYWHERE,
  OWN_SECRETS,
  SERVICES as ROWS,
  type GivenSetting,
  type ServiceRow,
} from '../../services.ts';

export type { GivenSetting };
export type DatabaseRole = Extract<(typeof ROWS)[number], { readonly database: object }>['database']['role'];

type DatabaseUse = NonNullable<ServiceRow['database']> & { readonly role: DatabaseRole };
export type ServiceSpec = ServiceRow & { readonly name: ServiceName; readonly database?: DatabaseUse };

export const SERVICES: readonly ServiceSpec[] = ROWS;

/** Those that call others. */
export const CALLERS = SERVICES.filter(({ name }) => CALLS[name].length > 0).map(({ name }) => name);
/** Those that use PostgreSQL, with how. */
export const DATABASE_USERS = SERVICES.flatMap(({ name, database }) =>
  database === undefined ? [] : [{ name, ...database }],
);

/** Without a benchmark, a service may need this much more under load than idle. */
const BUSY_FACTOR = 2;

export function busyMb({ memoryMb: { idle, busy = BUSY_FACTOR * idle } }: ServiceSpec): number {
  return busy;
}

/** The only public service. */
export const GATEWAY = 'gateway';

/** Environment variables that every service gets unchanged: those of Node and the system, and what an operator may change. */
export const PASSED_THROUGH: readonly string[] = [
  'PATH',
  'LD_LIBRARY_PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'TMPDIR',
  'NODE_OPTIONS',
  'NODE_COMPILE_CACHE',
  'NODE_COMPILE_CACHE_PORTABLE',
  'NODE_EXTRA_CA_CERTS',
  ...OPTIONAL_EVERYWHERE,
  ...SERVICES.flatMap(({ optional = [] }) => optional),
];

/** The services whose addresses a service has in settings of their own. Auth finds the dispatchers of cells in CELLS. */
export function addressedBy(name: ServiceName): readonly ServiceName[] {
  return CALLS[name].filter((called) => name !== 'auth' || called !== 'webhook-dispatcher');
}

export function urlVariable(service: string): string {
  return `${service.toUpperCase().replaceAll('-', '_')}_SERVICE_URL`;
}

/** The key of a secret setting of a service among the secrets of an installation: in a Secret of Kubernetes, or in a file. */
export function secretKey(service: string, variable: string): string {
  const isOwn = (OWN_SECRETS as readonly string[]).includes(variable);
  return isOwn ? `${service.toUpperCase().replaceAll('-', '_')}_${variable}` : variable;
}
