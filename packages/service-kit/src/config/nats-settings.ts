import { SHARDS_MAX } from '@wts/contracts';
import { defineSettings, setting } from './settings.ts';

/** The address of NATS, and a second password. `use` is a sentence about what the service uses NATS for. */
export function natsSettings(use: string) {
  return defineSettings({
    natsUrls: setting.urls('NATS_URL', {
      secret: true,
      protocols: ['nats', 'tls'],
      doc: `${use} Separate several addresses of one cluster by commas.`,
    }),
    // Keeps secrets.nats.
    natsOtherPassword: setting.text('NATS_OTHER_PASSWORD', {
      secret: true,
      optional: true,
      doc: 'A second password of the user of NATS_URL: it is used when a server refuses the first one. Set it to change the password without an outage; infra/docs/security.md has the steps.',
    }),
  });
}

/** The number of the cell, of the services that have only to know where its agent endpoint is. */
export const cellSetting = setting.int('SHARD', {
  default: 0,
  min: 0,
  max: SHARDS_MAX - 1,
  doc: 'Number of the cell, in an installation of several. The agent endpoint of cell 0 is at /mcp of AUTH_URL, that of each further one at /mcp of BASE_URL.',
});

/** The number of the log, of the services that follow it. */
export const shardSetting = setting.int('SHARD', {
  default: 0,
  min: 0,
  max: SHARDS_MAX - 1,
  doc: 'Number of the cell, and of its log: the same for all services of a cell, and 0 in an installation of one cell. From 1 on it is a part of the names of the stream and its subjects.',
});
