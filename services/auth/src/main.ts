import { run } from '@wts/service-kit/main';
import { join } from 'node:path';

await run({
  service: async () => (await import('./service.ts')).authService,
  migrations: { schema: 'auth', directory: join(import.meta.dirname, 'migrations') },
});
