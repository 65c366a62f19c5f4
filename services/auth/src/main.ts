import { run } from '@wts/service-kit/life';
import { authService } from './service.ts';

await run(authService);
