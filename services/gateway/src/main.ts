import { run } from '@wts/service-kit/life';
import { gateway } from './service.ts';

await run(gateway);
