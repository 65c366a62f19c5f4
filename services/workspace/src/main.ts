import { run } from '@wts/service-kit/life';
import { workspaceService } from './service.ts';

await run(workspaceService);
