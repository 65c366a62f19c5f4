import { run } from '@wts/service-kit/main';
import { join } from 'node:path';

await run({
  service: async () => (await import('./service.ts')).syncService,
  migrations: { schema: 'sync', directory: join(import.meta.dirname, 'migrations') },
});
