import { defineSettings, setting } from './settings.ts';

const POSTGRES = { secret: true, protocols: ['postgres', 'postgresql'] } as const;

/** The database of a service. `role` is the role of PostgreSQL that it uses, and may go on with what that role may do. */
export function databaseUrlSetting(role: string) {
  return setting.url('DATABASE_URL', {
    ...POSTGRES,
    doc: `PostgreSQL, with the role ${role}. A connection pooler in between must use session pooling.`,
  });
}

/** For each service with a database. Keeps secrets.database. */
export const otherPasswordSetting = setting.text('DATABASE_OTHER_PASSWORD', {
  secret: true,
  optional: true,
  doc: 'A second password of the role, for every address of PostgreSQL: it is used when the server refuses the first one. Set it to change the password without an outage; infra/docs/security.md has the steps.',
});

/** The database of a service that has tables of its own, and where its migrations connect to. */
export function databaseSettings(role: string) {
  return defineSettings({
    databaseUrl: databaseUrlSetting(role),
    otherPassword: otherPasswordSetting,
    migrationDatabaseUrl: setting.url('MIGRATION_DATABASE_URL', {
      ...POSTGRES,
      optional: true,
      doc: 'PostgreSQL for the migrations (src/main.ts migrate), with the same role. Set it to the server itself when DATABASE_URL is a pooler. Default: DATABASE_URL. The service does not use it.',
    }),
  });
}

/** A streaming replica of the database. `use` is a sentence about which reads it serves, and when. */
export function replicaUrlSetting(use: string) {
  return setting.url('DATABASE_REPLICA_URL', {
    ...POSTGRES,
    optional: true,
    doc: `A streaming replica of the database. ${use} Set it to take load off the primary.`,
  });
}

interface PoolMaxOptions {
  readonly default?: number;
  /** The least with which the service works. */
  readonly min?: number;
  /** Completes "Connections to PostgreSQL per process". */
  readonly use?: string;
}

export function poolMaxSetting({ default: standard = 10, min = 1, use = '' }: PoolMaxOptions = {}) {
  return setting.int('DATABASE_POOL_MAX', {
    default: standard,
    min,
    max: 200,
    doc: `Connections to PostgreSQL per process${use}. Raise it when requests wait for a connection.`,
  });
}
