import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { tryLease } from './lease.ts';

const message = (type: string, ...parts: (string | Buffer)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const ACCEPTED = message('R', Buffer.alloc(4));
const READY = message('Z', 'I');
const ENDED = message('E', 'SFATAL\0', 'C57P01\0', 'Mterminating connection due to administrator command\0\0');

describe('a lease', () => {
  it('is refused, and ends no process, when the server ends the session in the packet in which it begins', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(Buffer.concat([ACCEPTED, READY, ENDED])));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `postgres://a:b@127.0.0.1:${(server.address() as AddressInfo).port}/c`;
    try {
      await assert.rejects(tryLease({ url, key: 1, name: 'test', logger: { warn: () => undefined } }));
    } finally {
      server.close();
    }
  });
});
