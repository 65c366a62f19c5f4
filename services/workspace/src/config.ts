import { defineSettings, natsSetting, serviceSettings, setting } from '@wts/service-kit/config';

export const databaseSettings = {
  databaseUrl: setting.url('DATABASE_URL', {
    secret: true,
    protocols: ['postgres', 'postgresql'],
    doc: 'PostgreSQL, with the role wts_workspace. A connection pooler in between must use session pooling.',
  }),
  migrationDatabaseUrl: setting.url('MIGRATION_DATABASE_URL', {
    secret: true,
    optional: true,
    protocols: ['postgres', 'postgresql'],
    doc: 'PostgreSQL for the migrations (src/migrate.ts), with the same role. Set it to the server itself when DATABASE_URL is a pooler. Default: DATABASE_URL. The service does not use it.',
  }),
};

/** What the service and `seed.ts` need: the database and the sync service. */
export const storeSettings = {
  ...databaseSettings,
  syncUrls: setting.urls('SYNC_SERVICE_URL', {
    protocols: ['http', 'https'],
    doc: 'Addresses of the sync service, which commits every change.',
  }),
};

export const settings = defineSettings({
  ...serviceSettings,
  ...storeSettings,
  authUrls: setting.urls('AUTH_SERVICE_URL', {
    protocols: ['http', 'https'],
    doc: 'Addresses of the auth service, which knows the verified addresses of people.',
  }),
  natsUrls: natsSetting('NATS server, which announces ended memberships to all caches.'),
  poolMax: setting.int('DATABASE_POOL_MAX', {
    default: 10,
    min: 1,
    max: 200,
    doc: 'Connections to PostgreSQL per process. Raise it when requests wait for a connection.',
  }),
});
