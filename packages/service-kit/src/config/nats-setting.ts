import { setting } from './settings.ts';

/** The address of NATS. `use` is a sentence about what the service uses NATS for. */
export function natsSetting(use: string) {
  return setting.urls('NATS_URL', {
    secret: true,
    protocols: ['nats', 'tls'],
    doc: `${use} Separate several addresses of one cluster by commas.`,
  });
}
