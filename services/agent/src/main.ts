import { run } from '@wts/service-kit/main';

await run({ service: async () => (await import('./service.ts')).agentService });
