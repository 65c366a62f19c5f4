import {
  credentialSettings,
  databaseSettings,
  defineSettings,
  natsSetting,
  poolMaxSetting,
  serviceSettings,
  setting,
} from '@wts/service-kit/config';

export const database = databaseSettings('wts_workspace');

/** What the service and `seed.ts` need: the database and the sync service. */
export const storeSettings = {
  ...database,
  syncUrls: setting.urls('SYNC_URL', {
    protocols: ['http', 'https'],
    doc: 'Addresses of the sync service, which commits every change.',
  }),
  apiKeyPrefix: credentialSettings.apiKeyPrefix,
};

export const settings = defineSettings({
  ...serviceSettings,
  ...storeSettings,
  natsUrls: natsSetting('NATS server, which announces revoked keys and ended memberships to all caches.'),
  poolMax: poolMaxSetting(),
});
