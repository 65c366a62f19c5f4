import { equal, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { eventually, openWire, type Wire } from '../src/index.ts';
import { resetConnection } from '../src/reset.ts';

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
  const get = async () =>
    (await fetch(wire.through('http://somewhere:1/'), { headers: { connection: 'close' } })).text();

  it('passes requests and responses', async () => {
    equal(await get(), 'through');
  });

  it('refuses connections while it is cut, and passes data again after mend()', async () => {
    wire.cut();
    await rejects(get());
    wire.mend();
    equal(await get(), 'through');
  });

  it('passes requests while it holds replies, and the replies after mend()', async () => {
    let [requested, answered] = [false, false];
    server.once('request', () => (requested = true));
    wire.holdReplies();
    const held = get().then((text) => {
      answered = true;
      return text;
    });
    await eventually(() => requested);
    const other = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    equal(await other.text(), 'through');
    equal(answered, false);
    wire.mend();
    equal(await held, 'through');
  });

  it('resets the connection at the first byte of as many replies as it is set to lose', async () => {
    wire.loseAnswers(1);
    await rejects(get());
    equal(wire.lost(), 1);
    equal(await get(), 'through');
  });

  it('sends new connections to another server after redirect()', async () => {
    const other = createServer((_request, response) => response.end('elsewhere'));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    wire.redirect({ host: '127.0.0.1', port: (other.address() as AddressInfo).port });
    equal(await get(), 'elsewhere');
    wire.redirect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
    equal(await get(), 'through');
    other.closeAllConnections();
    other.close();
  });

  it('passes nothing while it is frozen, and everything after mend()', async () => {
    wire.freeze();
    let answered = false;
    const held = get().then((text) => {
      answered = true;
      return text;
    });
    const other = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    equal(await other.text(), 'through');
    equal(answered, false);
    wire.mend();
    equal(await held, 'through');
  });

  it('ends with the connections that came while it was frozen, also with those that are closed already', async () => {
    const frozen = await openWire({ host: '127.0.0.1', port: 1 });
    frozen.freeze();
    const [open, closed] = [connect(frozen.port, '127.0.0.1'), connect(frozen.port, '127.0.0.1')];
    await Promise.all([once(open, 'connect'), once(closed, 'connect')]);
    closed.destroy();
    await Promise.all([rejects(once(open, 'close')), frozen[Symbol.asyncDispose]()]);
  });
});

describe('a reset', () => {
  it('closes a connection whose end is being sent, which Node cannot reset', async () => {
    await using listener = createTcpServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const accepted = once(listener, 'connection') as Promise<[Socket]>;
    const client = connect((listener.address() as AddressInfo).port, '127.0.0.1').resume();
    const [socket] = await accepted;
    socket.end();
    resetConnection(socket);
    // Rejects with an error of the socket.
    await Promise.all([once(socket, 'close'), once(client, 'close')]);
  });
});
