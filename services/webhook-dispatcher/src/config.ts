import {
  databaseSettings,
  defineSettings,
  natsSettings,
  poolMaxSetting,
  refuseCaFile,
  refusalOf,
  replaySettings,
  serviceSettings,
  setting,
  shardSetting,
} from '@wts/service-kit/config';
import { refuseDnsServer, refuseRange } from '@wts/service-kit/egress';
import { parseSecretKeys } from '@wts/service-kit/sealing';
import { parseDuration, parseRetrySchedule } from './domain/schedule.ts';

const database = databaseSettings('wts_webhooks');

export const settings = defineSettings({
  ...serviceSettings,
  ...replaySettings,
  ...database,
  ...natsSettings(
    'NATS server: brings new entries of the log within milliseconds; without it they are read every 250 ms.',
  ),
  shard: shardSetting,
  poolMax: poolMaxSetting({ min: 2 }),
  allowedCidrs: setting.texts('WEBHOOK_ALLOWED_CIDRS', {
    default: [],
    refuse: refuseRange,
    doc: 'Blocks of addresses (10.1.0.0/16, fd00::/8) and single ones that webhooks may go to although they are not public, and no others. With one of them, names of local networks are accepted too. For tests and private networks.',
  }),
  extraCaFile: setting.text('WEBHOOK_EXTRA_CA_FILE', {
    optional: true,
    refuse: refuseCaFile,
    doc: 'PEM file of certificate authorities that consumers of webhooks may have besides the public ones.',
  }),
  dnsServers: setting.texts('WEBHOOK_DNS_SERVERS', {
    default: [],
    refuse: refuseDnsServer,
    doc: 'DNS servers that resolve the names of consumers: addresses, with or without a port ([::1]:53). Default: those of the system. /etc/hosts is not read.',
  }),
  secretKey: setting.text('WEBHOOK_SECRET_KEY', {
    optional: true,
    secret: true,
    refuse: refusalOf(parseSecretKeys),
    doc: 'Encrypts the signing secrets of endpoints: 32 random bytes in base64, or several keys separated by commas, each `key` or `name:key`; the first encrypts, all decrypt. `npm run secrets -- rotate webhook-key` changes it without an outage, see infra/docs/security.md. Without it no endpoint can be created.',
  }),
  retrySchedule: setting.text('WEBHOOK_RETRY_SCHEDULE', {
    default: '5s,5m,30m,2h,5h,10h,10h',
    refuse: refusalOf(parseRetrySchedule),
    doc: 'How long after each failed attempt a delivery is attempted again: seven durations (250ms, 5s, 30m, 2h). Those above 5 s are lengthened by up to a tenth at random.',
  }),
  sendsTraceparent: setting.flag('WEBHOOK_TRACEPARENT', {
    default: false,
    doc: 'on: an attempt whose change is traced has a traceparent header, by which the traces of consumers join those of this system. Off, consumers learn nothing of traces.',
  }),
  disableAfter: setting.text('WEBHOOK_DISABLE_AFTER', {
    default: '72h',
    refuse: refusalOf(parseDuration),
    doc: 'An endpoint that has failed for so long without a success, in eight attempts at least, is switched off.',
  }),
});
