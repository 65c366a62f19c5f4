import { run } from '@wts/service-kit';
import { syncService } from './service.ts';

await run(syncService);
