import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SyncError } from '@wts/client/api';
import { notePauses, openFetch } from './fetch.ts';

describe('a request of a command', () => {
  it('is given up at once only when the service has not answered this command before', async () => {
    const server = createServer((_, res) => res.end('{}')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const open = (): typeof fetch =>
      openFetch({ io: { env: {} }, output: { note: async () => {}, warn: async () => {} } });
    const reached = open();
    await (await reached(url)).text();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    const isFinal = (error: unknown): boolean => error instanceof SyncError && !error.isTemporary;
    await assert.rejects(reached(url), (error) => !isFinal(error));
    await assert.rejects(open()(url), isFinal);
  });

  it('names the cause when its address begins with https and the server does not speak TLS', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const request = openFetch({ io: { env: {} }, output: { note: async () => {}, warn: async () => {} } });
    const { port } = server.address() as AddressInfo;
    await assert.rejects(request(`https://127.0.0.1:${port}`), /cannot be reached: it does not speak TLS; .*http:/);
    server.close();
  });

  it('that waits to be repeated says so, when a person would wonder', () => {
    const notes: string[] = [];
    const { onPause } = notePauses({ note: async (text) => void notes.push(text) });
    onPause(1_500, new Error('Busy'));
    onPause(2_100, new Error('Too many requests'));
    assert.deepEqual(notes, ['Too many requests; next attempt in 3 s.']);
  });
});
