import { NATS_USERS, natsPasswordVariable } from '@wts/contracts';
import { CONNECTIONS_MAX } from '../servers/postgres.ts';
import { DATABASE_USERS, secretKey } from '../services.ts';
import { composeEnvironment, composeServices, OUTSIDE } from './services.ts';

/** The files of the installation with compose, by their path in the repository. */
export function composeFiles(): readonly (readonly [string, string])[] {
  return [
    ['infra/compose.yaml', composeFile()],
    ['infra/postgres/compose-passwords.sql', rolePasswords()],
  ];
}

/** For psql: the password of each role is that of the URL in its environment. No statement with one gets into the log of the server. */
function rolePasswords(): string {
  const lines = DATABASE_USERS.map(
    ({
      name,
      role,
    }) => `\\set password \`echo "$${secretKey(name, 'DATABASE_URL')}" | sed 's|^[^:]*://[^:]*:||; s|@.*||'\`
ALTER ROLE ${role} PASSWORD :'password';`,
  );
  return `-- For infra/compose.yaml: gives the roles the passwords that are in the URLs of the services. Made by \`npm run settings\`.
SET log_statement = none;
SET log_min_error_statement = panic;
SET log_min_duration_statement = -1;
${lines.join('\n')}
`;
}

function composeFile(): string {
  return `# The whole system on one machine, with docker compose or podman compose. Made by \`npm run settings\` from infra/services.ts and
# infra/local/src/compose. infra/images/README.md says how it is started; what you want different goes into compose.override.yaml.
name: wts

networks:
  default:
    ipam:
      config: [{ subnet: ${OUTSIDE.subnet} }]

volumes:
  postgres:
  nats:

x-container: &container
  restart: unless-stopped
  read_only: true
  cap_drop: [ALL]
  security_opt: ["no-new-privileges:true"]

${composeEnvironment()}
# Every secret is in .env beside this file: \`npm run -s secrets -- --format compose > infra/.env\`.
services:
  # The public entry: TLS, and a connection to one of the gateways.
  edge:
    <<: *container
    image: \${EDGE_IMAGE:-docker.io/library/haproxy:3.2}
    entrypoint: ["sh", "-c", "umask 077 && echo \\"$$TLS_PEM_BASE64\\" | base64 -d > /tmp/edge.pem && exec haproxy -db -f /etc/wts/edge.cfg"]
    user: "65532:65532"
    environment:
      TLS_PEM_BASE64: \${TLS_PEM_BASE64}
    tmpfs: [/tmp]
    volumes: ["./proxies/edge.cfg:/etc/wts/edge.cfg:ro"]
    ports: ["\${API_PORT:-8443}:8443", "\${AUTH_PORT:-8444}:8444"]
    networks: { default: { ipv4_address: ${OUTSIDE.edge} } }
    depends_on: [gateway]

${composeServices()}
${stores()}`;
}

function stores(): string {
  return `  # Creates the roles and schemas, and gives the roles the passwords of .env. Runs at each \`up\`, before the services are replaced, and
  # changes nothing when .env is the same. After each step of \`rotate database\`, services with the file before know the password too.
  roles:
    image: \${POSTGRES_IMAGE:-docker.io/library/postgres:18}
    restart: on-failure
    entrypoint: ["sh", "-ec", "until pg_isready -q; do sleep 1; done; psql -q -v ON_ERROR_STOP=1 -f /sql/roles.sql -f /sql/compose-passwords.sql"]
    environment:
      PGHOST: postgres
      PGUSER: postgres
      PGDATABASE: wts
      PGPASSWORD: \${POSTGRES_PASSWORD}
${DATABASE_USERS.map(({ name }) => secretKey(name, 'DATABASE_URL'))
  .map((variable) => `      ${variable}: \${${variable}}`)
  .join('\n')}
    volumes: ["./postgres:/sql:ro"]
    depends_on: { postgres: { condition: service_healthy } }

  postgres:
    image: \${POSTGRES_IMAGE:-docker.io/library/postgres:18}
    restart: unless-stopped
    # The other settings make less WAL: infra/docs/backup.md.
    command: ["postgres", "-c", "max_connections=${CONNECTIONS_MAX}", "-c", "wal_compression=lz4", "-c", "max_wal_size=4GB", "-c", "checkpoint_timeout=15min"]
    environment:
      POSTGRES_PASSWORD: \${POSTGRES_PASSWORD}
      POSTGRES_DB: wts
    volumes: ["postgres:/var/lib/postgresql"]
    shm_size: 256m
    healthcheck: { test: ["CMD", "pg_isready", "-q", "-U", "postgres"], interval: 5s, retries: 24 }

  nats:
    image: \${NATS_IMAGE:-docker.io/library/nats:2.14}
    restart: unless-stopped
    command: ["-c", "/etc/wts/server.conf"]
    environment:
${NATS_USERS.map(natsPasswordVariable)
  .map((variable) => `      ${variable}: \${${variable}}`)
  .join('\n')}
    volumes: ["./nats:/etc/wts:ro", "nats:/data"]

  # Shows every mail at http://127.0.0.1:8025, and delivers none. Not used with an SMTP_URL of your own.
  mail:
    <<: *container
    image: \${MAIL_IMAGE:-docker.io/axllent/mailpit:v1.27}
    tmpfs: [/tmp]
    ports: ["127.0.0.1:8025:8025"]
`;
}
