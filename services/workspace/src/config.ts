import { LIMITS, SHARDS_MAX } from '@wts/contracts';
import {
  callerSettings,
  databaseSettings,
  defineSettings,
  natsSettings,
  poolMaxSetting,
  replaySettings,
  serviceSettings,
  setting,
} from '@wts/service-kit/config';

const database = databaseSettings('wts_workspace');

/** What the service and `seed.ts` need: the database and the sync service, which they call. */
export const storeSettings = {
  ...callerSettings,
  ...database,
  syncUrls: setting.urls('SYNC_SERVICE_URL', { doc: 'Addresses of the sync service, which commits every change.' }),
};

export const settings = defineSettings({
  ...serviceSettings,
  ...replaySettings,
  ...storeSettings,
  shard: setting.int('SHARD', {
    optional: true,
    min: 0,
    max: SHARDS_MAX - 1,
    doc: 'Number of the cell, where the auth service has CELLS, also for cell 0: this service then claims the urlKey of each new workspace there. Leave it out in an installation of one cell.',
  }),
  authUrls: setting.urls('AUTH_SERVICE_URL', {
    doc: 'Addresses of the auth service, which knows the verified addresses of people.',
  }),
  wrongCodesPerMinuteMax: setting.int('WRONG_CODES_PER_MINUTE', {
    default: LIMITS.wrongCodesPerMinuteMax,
    min: 0,
    max: 1_000_000,
    doc: 'Wrong invitation codes of one person in a minute, over REST, GraphQL and the pages together; 0 for no limit. Codes cannot be guessed; this bounds the work of the database for who tries.',
  }),
  ...natsSettings('NATS server, which announces ended memberships to all caches.'),
  poolMax: poolMaxSetting(),
});
