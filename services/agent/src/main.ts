import { run } from '@wts/service-kit/life';
import { agentService } from './service.ts';

await run(agentService);
