import { CALLS } from '@wts/contracts';
// @boundaries-ignore: see ../services.ts.
import { OPTIONAL_EVERYWHERE, PUBLIC_PORTS } from '../../../services.ts';
import { addressedBy, busyMb, GATEWAY, secretKey, SERVICES, urlVariable, type ServiceSpec } from '../services.ts';

/** The addresses of the installation. The gateway believes the edge, and only the edge, who calls. */
export const OUTSIDE = { subnet: '10.89.80.0/24', edge: '10.89.80.10' } as const;

/** The port of every service behind the gateway, and that of the metrics of all. */
const PORT = 8080;
const METRICS_PORT = 9090;
/** Those that carry sockets and commits, so that one of them can be replaced while the other works. */
const REPLICAS: Readonly<Record<string, number>> = { gateway: 2, sync: 2 };
/** A limit is above what was measured. */
const LIMIT_FACTOR = 2;

/** What .env may leave out. */
const DEFAULTS: Readonly<Record<string, string>> = {
  BASE_URL: 'https://localhost:8443',
  AUTH_URL: 'https://localhost:8444',
  SMTP_URL: 'smtp://mail:1025?tls=off',
  TRUSTED_PROXIES: OUTSIDE.edge,
};
/** Secrets that `npm run secrets` makes. */
const MADE: readonly string[] = ['NATS_URL', 'AUTH_SECRET_KEY', 'REPLAY_SECRET', 'WEBHOOK_SECRET_KEY'];
/** These come with the image. */
const OF_THE_IMAGE: readonly string[] = ['BUILD_COMMIT', 'BUILD_VERSION'];

/** What every service has in its environment. */
export function composeEnvironment(): string {
  const optional = OPTIONAL_EVERYWHERE.filter((variable) => !OF_THE_IMAGE.includes(variable));
  return `x-environment: &environment
  PORT: ${PORT}
  METRICS_PORT: ${METRICS_PORT}
  INTERNAL_TOKEN_PUBLIC_KEYS: ${secretOf('', 'INTERNAL_TOKEN_PUBLIC_KEYS')}
${optional.map((variable) => `  ${variable}: ${valueOf('', variable)}\n`).join('')}`;
}

/** The services, and before each with a schema the job that migrates it, as YAML. */
export function composeServices(): string {
  return SERVICES.map((service) => `${migrationOf(service)}${serviceOf(service)}`).join('\n');
}

function migrationOf({ name, database }: ServiceSpec): string {
  if (!database?.schema) return '';
  const after = (database.migratesAfter ?? []).map((first) => `migrate-${first}`);
  return `  migrate-${name}:
    <<: *container
    restart: on-failure
    image: ${imageOf(name)}
    command: [migrate]
    environment:
${linesOf(databaseEnvironment(name))}
    depends_on:
${['roles', ...after].map((first) => `      ${first}: { condition: service_completed_successfully }`).join('\n')}

`;
}

function serviceOf(service: ServiceSpec): string {
  const { name, database, temporaryMb } = service;
  const replicas = REPLICAS[name] ?? 1;
  // Who only reads needs the schema of sync.
  const migrated = database === undefined ? null : `migrate-${database.schema === null ? 'sync' : name}`;
  return `  ${name}:
    <<: *container
    image: ${imageOf(name)}
${replicas === 1 ? '' : `    deploy: { replicas: ${replicas} }\n`}    mem_limit: ${LIMIT_FACTOR * busyMb(service)}m
    stop_grace_period: 40s
    healthcheck: { test: ["CMD", "node", "src/main.js", "healthcheck"], interval: 10s, timeout: 6s, start_period: 30s }
${temporaryMb === undefined ? '' : `    # Spools of snapshots, up to ${temporaryMb} MB.\n    volumes: [/tmp]\n`}    environment:
      <<: *environment
${linesOf(environmentOf(service))}
${migrated === null ? '' : `    depends_on: { ${migrated}: { condition: service_completed_successfully } }\n`}`;
}

/** The values of variables, as compose reads them. */
function environmentOf({ name, given, optional = [], database }: ServiceSpec): Readonly<Record<string, string>> {
  const calls = CALLS[name];
  return {
    ...(name === GATEWAY ? { PORT: String(PUBLIC_PORTS.PORT) } : {}),
    ...(calls.length === 0 ? {} : { INTERNAL_TOKEN_KEY: secretOf(name, 'INTERNAL_TOKEN_KEY') }),
    ...(database === undefined ? {} : databaseEnvironment(name)),
    ...(given.includes('NATS_URL') ? { NATS_OTHER_PASSWORD: valueOf(name, 'NATS_OTHER_PASSWORD') } : {}),
    ...Object.fromEntries(addressedBy(name).map((other) => [urlVariable(other), `http://${other}:${PORT}`])),
    ...Object.fromEntries([...given, ...optional].map((variable) => [variable, valueOf(name, variable)])),
  };
}

/** With the second password of its role, which is set while the first one changes. */
function databaseEnvironment(service: string): Readonly<Record<string, string>> {
  return {
    DATABASE_URL: secretOf(service, 'DATABASE_URL'),
    DATABASE_OTHER_PASSWORD: valueOf(service, 'DATABASE_OTHER_PASSWORD'),
  };
}

function linesOf(environment: Readonly<Record<string, string>>): string {
  return Object.entries(environment)
    .map(([variable, value]) => `      ${variable}: ${value}`)
    .join('\n');
}

function valueOf(service: string, variable: string): string {
  if (variable === 'AUTH_PORT') return String(PUBLIC_PORTS.AUTH_PORT);
  if (MADE.includes(variable)) return secretOf(service, variable);
  return `\${${secretKey(service, variable)}:-${DEFAULTS[variable] ?? ''}}`;
}

/** Compose refuses to start without it. */
function secretOf(service: string, variable: string): string {
  return `\${${secretKey(service, variable)}:?is missing in .env}`;
}

function imageOf(service: string): string {
  return `\${IMAGES:-}wts-${service}:\${TAG:-latest}`;
}
