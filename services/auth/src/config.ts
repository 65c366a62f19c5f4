import { credentialSettings, defineSettings, natsSetting, serviceSettings, setting } from '@wts/service-kit/config';

const HTTP = { protocols: ['http', 'https'] } as const;

export const databaseSettings = {
  databaseUrl: setting.url('DATABASE_URL', {
    secret: true,
    protocols: ['postgres', 'postgresql'],
    doc: 'PostgreSQL, with the role wts_auth. A connection pooler in between must use session pooling.',
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
    ...HTTP,
    doc: 'Addresses of the sync service, which commits every new person.',
  }),
  apiKeyPrefix: credentialSettings.apiKeyPrefix,
};

export const settings = defineSettings({
  ...serviceSettings,
  ...storeSettings,
  baseUrl: setting.url('BASE_URL', {
    ...HTTP,
    default: 'http://localhost:4000',
    doc: 'Public address of the API, the same as for the gateway. Access tokens are for it.',
  }),
  authUrl: setting.url('AUTH_URL', {
    ...HTTP,
    default: 'http://localhost:4001',
    doc: 'Public address of the authorization origin, the same as for the gateway: the issuer of access tokens.',
  }),
  workspaceUrls: setting.urls('WORKSPACE_SERVICE_URL', {
    ...HTTP,
    doc: 'Addresses of the workspace service, which keeps invitations.',
  }),
  natsUrls: natsSetting('NATS server, which announces revoked credentials to all caches.'),
  poolMax: setting.int('DATABASE_POOL_MAX', {
    default: 10,
    min: 1,
    max: 200,
    doc: 'Connections to PostgreSQL per process. Raise it when requests wait for a connection.',
  }),
});
