import { run } from '@wts/service-kit';
import { gateway } from './service.ts';

await run(gateway);
