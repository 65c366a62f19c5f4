import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { eventually } from '@wts/testkit';
import { startDemo, type Running } from './running-demo.ts';
import { raw } from './raw.ts';

interface Client {
  readonly socket: Socket;
  text(): string;
  isClosed(): boolean;
}

function dial(port: number, first = ''): Client {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  let isClosed = false;
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
  });
  socket.write(first);
  return { socket, text: () => text, isClosed: () => isClosed };
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

describe('a service that stops', () => {
  let demo: Running;
  const clients: Client[] = [];
  const open = (first?: string): Client => {
    const client = dial(demo.service.port, first);
    clients.push(client);
    return client;
  };
  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.destroy();
    for (const { answer } of demo.levers.held) answer();
    await demo.service.close();
  });

  it('finishes requests under way, closes their connections, then its resources', async () => {
    demo = await startDemo();
    const client = open(get('/hold'));
    const held = await eventually(() => demo.levers.held.at(-1));
    const closing = demo.service.close();
    await eventually(() => demo.levers.closed.includes('goodbye'));
    assert.deepEqual(demo.levers.closed, ['goodbye'], 'the store must not be closed under a request');
    assert.equal(client.isClosed(), false);
    held.answer();
    await closing;
    await eventually(() => client.isClosed());
    assert.match(client.text(), /^HTTP\/1\.1 200 OK\r\n[^]*connection: close\r\n[^]*\{"ok":true\}$/);
    assert.deepEqual(demo.levers.closed, ['goodbye', 'store']);
  });

  it('accepts no new connection and closes idle ones immediately', async () => {
    demo = await startDemo();
    const idle = open(get('/open'));
    const held = open(get('/hold'));
    await eventually(() => idle.text().includes('200 OK') && demo.levers.held.length === 1);
    const closing = demo.service.close();
    await eventually(() => idle.isClosed());
    assert.equal(held.isClosed(), false);
    const late = open(get('/open'));
    await eventually(() => late.isClosed());
    assert.equal(late.text(), '');
    demo.levers.held[0]?.answer();
    await closing;
  });

  it('is not ready for SHUTDOWN_DELAY_MS before it closes its port, and each reply meanwhile is the last of its connection', async () => {
    demo = await startDemo({ SHUTDOWN_DELAY_MS: '400' });
    const kept = open(get('/open'));
    await eventually(() => kept.text().includes('200 OK'));
    const closing = demo.service.close();
    kept.socket.write(get('/open'));
    await eventually(() => kept.isClosed());
    assert.equal(kept.text().match(/200 OK/g)?.length, 2);
    assert.equal(kept.text().match(/connection: close/gi)?.length, 1);
    const ready = await raw({ port: demo.service.port, parts: [get('/ready')] });
    assert.equal(ready.status, 503);
    assert.equal((await raw({ port: demo.service.port, parts: [get('/open')] })).status, 200);
    assert.equal((await raw({ port: demo.service.port, parts: [get('/health')] })).status, 200);
    await closing;
  });

  it('aborts requests that do not end within the grace period, and closes upgraded sockets [never.unbounded]', async () => {
    demo = await startDemo({ SHUTDOWN_GRACE_MS: '100' });
    const held = open(get('/hold'));
    const upgraded = open('GET /keep HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await eventually(() => upgraded.text().includes('101') && demo.levers.held.length === 1);
    await demo.service.close();
    await eventually(() => held.isClosed() && upgraded.isClosed());
    assert.ok(demo.lines().some(({ msg }) => msg === 'requests were aborted when the grace period ended'));
    assert.deepEqual(demo.levers.closed, ['goodbye', 'store']);
  });

  it('closes once when it is asked several times', async () => {
    demo = await startDemo();
    await Promise.all([demo.service.close(), demo.service.close()]);
    await demo.service.close();
    assert.deepEqual(demo.levers.closed, ['goodbye', 'store']);
  });
});
