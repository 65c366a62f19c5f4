import { LIMITS } from '@wts/contracts';
import {
  callerSettings,
  credentialSettings,
  databaseSettings,
  defineSettings,
  natsSettings,
  poolMaxSetting,
  replicaUrlSetting,
  serviceSettings,
  setting,
  shardSetting,
} from '@wts/service-kit/config';

const database = databaseSettings('wts_sync');

export const settings = defineSettings({
  ...serviceSettings,
  ...callerSettings,
  ...credentialSettings,
  ...database,
  poolMax: poolMaxSetting({
    default: 20,
    min: 4,
    use: ' for reading: a quarter each for bootstraps and pages of deltas, a fifth each for /sync/batch and sockets. Commits use up to six more, and sweeps one',
  }),
  replicaUrl: replicaUrlSetting(
    'Bootstrap, batch and deltas read from it when it has the position that the caller needs.',
  ),
  commitFastPath: setting.flag('COMMIT_FAST_PATH', {
    default: true,
    doc: 'on: batches that only create records are decided from a cache, which their database transaction checks, and batches overlap. off: each batch first reads and locks what it needs, which is slower and has the same results. Turn it off to exclude the cache as the cause of a problem.',
  }),
  retentionDays: setting.int('LOG_RETENTION_DAYS', {
    default: 30,
    min: 1,
    doc: 'Days that entries of the log are kept. A client that was offline for longer must bootstrap again.',
  }),
  retentionEntries: setting.int('LOG_RETENTION_ENTRIES', {
    optional: true,
    min: 1_000_000,
    doc: 'Entries of the log to keep: with more, older ones are removed before LOG_RETENTION_DAYS, but never within their first hour. Set it to limit disk space. Default: no limit.',
  }),
  trashRetentionDays: setting.int('TRASH_RETENTION_DAYS', {
    default: 30,
    min: 0,
    max: LIMITS.trashRetentionDaysMax,
    doc: 'Days that tasks stay in the Trash before they are deleted for good; 0: they are never deleted. After the first start and after a lower value, the service waits a day before it deletes, so that a mistake can be corrected. A workspace can keep its tasks longer.',
  }),
  repeatOpenMax: setting.int('REPEAT_OPEN_MAX', {
    default: 7,
    min: 1,
    max: 50,
    doc: 'Open tasks of a series that repeats by date. With so many, no next one is created until some are completed.',
  }),
  ...natsSettings('NATS server with JetStream, which carries the log to every replica.'),
  shard: shardSetting,
  streamReplicas: setting.int('STREAM_REPLICAS', {
    default: 1,
    min: 1,
    max: 5,
    doc: 'Copies of the stream that JetStream keeps. Set 3 in a cluster of at least three servers.',
  }),
  authUrls: setting.urls('AUTH_SERVICE_URL', {
    doc: 'Addresses of the auth service, which resolves the credentials in subscribe frames.',
  }),
});
