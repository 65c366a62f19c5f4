import { credentialSettings, defineSettings, natsSetting, serviceSettings, setting } from '@wts/service-kit/config';

export const databaseSettings = {
  databaseUrl: setting.url('DATABASE_URL', {
    secret: true,
    protocols: ['postgres', 'postgresql'],
    doc: 'PostgreSQL, as the role wts_sync; a pooler in front of it must run in session mode.',
  }),
  migrationDatabaseUrl: setting.url('MIGRATION_DATABASE_URL', {
    secret: true,
    optional: true,
    protocols: ['postgres', 'postgresql'],
    doc: 'Where src/migrate.ts connects to, as the same role: PostgreSQL itself when DATABASE_URL is a pooler. Default: DATABASE_URL. The service itself does not use it.',
  }),
};

export const settings = defineSettings({
  ...serviceSettings,
  ...credentialSettings,
  ...databaseSettings,
  poolMax: setting.int('DATABASE_POOL_MAX', {
    default: 20,
    min: 4,
    max: 200,
    doc: 'Connections to PostgreSQL per process, for reading: a quarter each for bootstraps and pages of deltas, a fifth each for /sync/batch and sockets. Up to six more commit, and one sweeps.',
  }),
  replicaUrl: setting.url('DATABASE_REPLICA_URL', {
    secret: true,
    optional: true,
    protocols: ['postgres', 'postgresql'],
    doc: 'A streaming replica of the database: bootstrap, batch and deltas are read there when it has all that the caller needs.',
  }),
  commitFastPath: setting.flag('COMMIT_FAST_PATH', {
    default: true,
    doc: 'Batches that only create records are decided from a cache, which their database transaction checks, and batches overlap. off: each batch first reads and locks what it needs, which is slower and changes nothing else.',
  }),
  retentionDays: setting.int('LOG_RETENTION_DAYS', {
    default: 30,
    min: 1,
    doc: 'Log entries are kept this many days; a client that was offline longer loads everything again.',
  }),
  retentionEntries: setting.int('LOG_RETENTION_ENTRIES', {
    optional: true,
    min: 1_000_000,
    doc: 'Log entries beyond this number are removed earlier, but never within their first hour.',
  }),
  natsUrls: natsSetting('NATS server with JetStream: carries the log to every replica.'),
  streamReplicas: setting.int('STREAM_REPLICAS', {
    default: 1,
    min: 1,
    max: 5,
    doc: 'Copies JetStream keeps of the stream; 3 in a cluster.',
  }),
  workspaceUrls: setting.urls('WORKSPACE_URL', {
    protocols: ['http', 'https'],
    doc: 'Origins of the workspace service, comma-separated: resolves the credentials in subscribe frames.',
  }),
});
