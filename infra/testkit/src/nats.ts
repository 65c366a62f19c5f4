import type { NatsServer } from '@wts/local';
import { openNats } from '@wts/local';
import { join } from 'node:path';
import { scratch } from './scratch.ts';

/**
 * A NATS server with JetStream of this test's own, without a password. The stream has one fixed name, so tests that
 * shared a server would read each other's log; a server starts in 30 ms.
 */
export function testNats(label = 'nats', password?: string): Promise<NatsServer> {
  const directory = scratch(label);
  return openNats({
    directory: join(directory, 'data'),
    log: join(directory, 'nats.log'),
    records: join(directory, 'run'),
    env: process.env,
    throwaway: true,
    ...(password === undefined ? {} : { password }),
  });
}
