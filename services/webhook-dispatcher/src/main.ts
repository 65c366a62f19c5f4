import { run } from '@wts/service-kit/main';
import { join } from 'node:path';

await run({
  service: async () => (await import('./service.ts')).webhookDispatcher,
  migrations: { schema: 'webhooks', directory: join(import.meta.dirname, 'migrations') },
});
