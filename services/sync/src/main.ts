import { run } from '@wts/service-kit/life';
import { syncService } from './service.ts';

await run(syncService);
