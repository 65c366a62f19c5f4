import { run } from '@wts/service-kit/life';
import { webhookDispatcher } from './service.ts';

await run(webhookDispatcher);
