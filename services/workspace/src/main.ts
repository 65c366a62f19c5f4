import { run } from '@wts/service-kit';
import { workspaceService } from './service.ts';

await run(workspaceService);
