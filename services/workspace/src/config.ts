import { credentialSettings, defineSettings, natsSetting, serviceSettings, setting } from '@wts/service-kit/config';

export const databaseSettings = {
  databaseUrl: setting.url('DATABASE_URL', {
    secret: true,
    protocols: ['postgres', 'postgresql'],
    doc: 'PostgreSQL, as the role wts_workspace; a pooler before it must give each connection a session of its own.',
  }),
  migrationDatabaseUrl: setting.url('MIGRATION_DATABASE_URL', {
    secret: true,
    optional: true,
    protocols: ['postgres', 'postgresql'],
    doc: 'Where src/migrate.ts connects to, as the same role: PostgreSQL itself when DATABASE_URL leads to a pooler. Default: DATABASE_URL. The service itself does not use it.',
  }),
};

/** What this service needs to reach its own tables, and to change anything at all. */
export const storeSettings = {
  ...databaseSettings,
  syncUrls: setting.urls('SYNC_URL', {
    protocols: ['http', 'https'],
    doc: 'Origins of the sync service, comma-separated.',
  }),
  apiKeyPrefix: credentialSettings.apiKeyPrefix,
};

export const settings = defineSettings({
  ...serviceSettings,
  ...storeSettings,
  natsUrls: natsSetting('NATS server: tells all caches that a key or a membership ended.'),
  poolMax: setting.int('DATABASE_POOL_MAX', {
    default: 10,
    min: 1,
    max: 200,
    doc: 'Connections to PostgreSQL per process.',
  }),
});
