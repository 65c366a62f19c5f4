import { setting } from './settings.ts';

/** Where NATS is. `use` is the sentence that says what the service needs it for. */
export function natsSetting(use: string) {
  return setting.urls('NATS_URL', {
    secret: true,
    protocols: ['nats', 'tls'],
    doc: `${use} Several addresses of one cluster are divided by commas.`,
  });
}
