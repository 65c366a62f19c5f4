import {
  credentialSettings,
  databaseSettings,
  defineSettings,
  natsSetting,
  poolMaxSetting,
  serviceSettings,
  setting,
} from '@wts/service-kit/config';

const HTTP = { protocols: ['http', 'https'] } as const;

export const database = databaseSettings('wts_auth');

/** What the service and `seed.ts` need: the database and the sync service. */
export const storeSettings = {
  ...database,
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
  poolMax: poolMaxSetting(),
});
