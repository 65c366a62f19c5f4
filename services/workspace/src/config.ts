import { credentialSettings, defineSettings, natsSetting, serviceSettings, setting } from '@wts/service-kit';

/** What this service needs to reach its own tables, and to change anything at all. */
export const storeSettings = {
  databaseUrl: setting.url('DATABASE_URL', {
    secret: true,
    protocols: ['postgres', 'postgresql'],
    doc: 'PostgreSQL, as the role wts_workspace.',
  }),
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
