import { createServer } from 'node:http';
import { join } from 'node:path';
import type { ServiceDefinition } from '../src/life/index.ts';
import { run } from '../src/main/index.ts';
import type { DemoConfig } from './demo.ts';

/** The process of a service, which `run.test.ts` starts and ends. MISHAP selects its failure. */
const { MISHAP } = process.env;

const withMishap = (definition: ServiceDefinition<DemoConfig>): ServiceDefinition<DemoConfig> => ({
  ...definition,
  async open(kit, config) {
    const opened = await definition.open(kit, config);
    if (MISHAP === 'port taken') {
      const other = createServer();
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
      const { port } = other.address() as { port: number };
      kit.stack.defer(() => void other.close());
      return { ...opened, port };
    }
    if (MISHAP === 'bug at start') throw new TypeError('postgres://u:hunter2@db is undefined');
    if (MISHAP === 'bug later') setTimeout(() => void Promise.reject(new Error('Bearer hunter2hunter2 was lost')), 50);
    if (MISHAP === 'never stops') kit.stack.defer(() => new Promise(() => setInterval(() => {}, 1000)));
    return opened;
  },
});

await run({
  service: async () => {
    const { demoService } = await import('./demo.ts');
    return withMishap(demoService({ held: [], echoes: 0, closed: [], relay: async () => {} }));
  },
  migrations: { schema: 'demo', directory: join(import.meta.dirname, 'migrations') },
});
