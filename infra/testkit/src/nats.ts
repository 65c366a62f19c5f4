import { freePort, openNats, type NatsServer } from '@wts/local';
import { join } from 'node:path';
import { scratch } from './scratch.ts';

/**
 * Starts a NATS server with JetStream for one test. Tests cannot share a server, because the stream has one fixed name and
 * they would read each other's log. A start takes 30 ms.
 */
export function testNats(label = 'nats', password?: string, shard = 0): Promise<NatsServer> {
  return openNats({ ...filesOf(label), shard, ...(password === undefined ? {} : { password }) });
}

/** Three servers of one cluster. They need some seconds until they have chosen a leader. */
export async function testNatsCluster(label: string): Promise<readonly NatsServer[]> {
  const ports = [await freePort(), await freePort(), await freePort()];
  return Promise.all(ports.map((_, index) => openNats({ ...filesOf(`${label}-${index}`), cluster: { index, ports } })));
}

function filesOf(label: string): Parameters<typeof openNats>[0] {
  const directory = scratch(label);
  return {
    directory: join(directory, 'data'),
    log: join(directory, 'nats.log'),
    records: join(directory, 'run'),
    env: process.env,
    throwaway: true,
  };
}
