/** The address of a service that a test system leaves out: a call of it is a mistake of the test, which ends with an error. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface AbsentService extends AsyncDisposable {
  readonly url: string;
}

/** Disposing it rejects when a request other than of its readiness arrived. */
export async function openAbsentService(name: string): Promise<AbsentService> {
  const called = new Set<string>();
  const server = createServer((req, res) => {
    if (req.url !== '/ready' && req.url !== '/health') called.add(`${req.method} ${req.url}`);
    res.writeHead(503, { 'content-type': 'text/plain', connection: 'close' });
    res.end(`${name} is not part of this test system`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      if (called.size === 0) return;
      throw new Error(`${name} was called, but not started (${[...called].join(', ')}): add it to services`);
    },
  };
}
