import { equal, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Wire } from '../src/index.ts';
import { eventually, openWire } from '../src/index.ts';

describe('a wire', () => {
  let wire: Wire;
  const server = createServer((_request, response) => response.end('through'));
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    wire = await openWire({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  });
  after(async () => {
    await wire[Symbol.asyncDispose]();
    server.closeAllConnections();
    server.close();
  });
  const ask = async () =>
    (await fetch(wire.through('http://somewhere:1/'), { headers: { connection: 'close' } })).text();

  it('carries what is sent', async () => {
    equal(await ask(), 'through');
  });

  it('breaks and refuses connections while it is cut, and carries again once mended', async () => {
    wire.cut();
    await rejects(ask());
    wire.mend();
    equal(await ask(), 'through');
  });

  it('brings what is asked while deaf, and the answer once mended', async () => {
    let [asked, answered] = [false, false];
    server.once('request', () => (asked = true));
    wire.deafen();
    const held = ask().then((text) => {
      answered = true;
      return text;
    });
    await eventually(() => asked);
    const other = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    equal(await other.text(), 'through');
    equal(answered, false);
    wire.mend();
    equal(await held, 'through');
  });

  it('leads new connections elsewhere when told to', async () => {
    const other = createServer((_request, response) => response.end('elsewhere'));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    wire.lead({ host: '127.0.0.1', port: (other.address() as AddressInfo).port });
    equal(await ask(), 'elsewhere');
    wire.lead({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
    equal(await ask(), 'through');
    other.closeAllConnections();
    other.close();
  });

  it('holds what is sent while frozen and delivers it once mended', async () => {
    wire.freeze();
    let answered = false;
    const held = ask().then((text) => {
      answered = true;
      return text;
    });
    const other = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    equal(await other.text(), 'through');
    equal(answered, false);
    wire.mend();
    equal(await held, 'through');
  });
});
