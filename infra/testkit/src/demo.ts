import { Stack, makeSecrets, type Database, type DemoWorkspace } from '@wts/local';
import { join } from 'node:path';
import { NODE_OPTIONS, programOf } from './built-services.ts';
import { ABSENT_SERVICE, CHEAP_PASSWORDS } from './environment.ts';
import { testNats } from './nats.ts';
import { scratch } from './scratch.ts';

/** Creates the demo workspace as `npm start` does: by the seeds of the services. */
export async function seedDemo(database: Database): Promise<DemoWorkspace> {
  const directory = scratch('seeds');
  await using nats = await testNats('seeds-nats');
  // The seeds need no other service than sync.
  const others = ['auth', 'workspace', 'webhook-dispatcher', 'graph', 'agent', 'gateway'];
  await using stack = await Stack.plan({
    logs: join(directory, 'logs'),
    records: join(directory, 'run'),
    database,
    natsUrlOf: () => nats.url,
    secrets: makeSecrets(),
    replicas: Object.fromEntries(others.map((name) => [name, 0])),
    elsewhere: new Map(others.map((name) => [name, ABSENT_SERVICE])),
    restarts: false,
    programOf,
    nodeOptions: NODE_OPTIONS,
    env: { ...CHEAP_PASSWORDS, ...process.env },
  });
  await stack.start();
  await stack.untilReady();
  return await stack.demo();
}
