import {
  credentialSettings,
  databaseSettings,
  defineSettings,
  natsSetting,
  poolMaxSetting,
  serviceSettings,
  setting,
} from '@wts/service-kit/config';
import { parseProvider, type ProviderSetting } from './domain/provider-setting.ts';

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
  hasAccounts: setting.flag('ACCOUNTS', {
    default: true,
    doc: 'Whether people may have an account with a password here. Set it to off when everyone signs in at OIDC_PROVIDER.',
  }),
  passwordCostLog2: setting.int('PASSWORD_COST_LOG2', {
    default: 17,
    min: 14,
    max: 20,
    doc: 'The cost of a password hash: scrypt with N = 2^this, r = 8, p = 1, which takes 2^(this + 10) bytes of memory. After a change, each hash is renewed at the next sign-in.',
  }),
  provider: setting.json<ProviderSetting, { doc: string; optional: true; secret: true }>('OIDC_PROVIDER', {
    optional: true,
    secret: true,
    read: parseProvider,
    doc: 'OpenID provider at which people sign in: {issuer, clientId, clientSecret?, name, scopes?, trustsEmails?}. `name` is the text of its button. Register {AUTH_URL}/sign-in/callback there as the redirect URI. For a provider that is in JWT_ISSUERS too, a person is the same.',
  }),
  natsUrls: natsSetting('NATS server, which announces revoked credentials to all caches.'),
  poolMax: poolMaxSetting(),
});
