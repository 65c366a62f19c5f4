import { run } from '@wts/service-kit/life';
import { graphService } from './service.ts';

await run(graphService);
