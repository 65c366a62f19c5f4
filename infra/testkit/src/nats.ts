import type { NatsServer } from '@wts/local';
import { openNats } from '@wts/local';
import { join } from 'node:path';
import { scratch } from './scratch.ts';

/**
 * Starts a NATS server with JetStream for one test. Tests cannot share a server, because the stream has one fixed name and
 * they would read each other's log. A start takes 30 ms.
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
