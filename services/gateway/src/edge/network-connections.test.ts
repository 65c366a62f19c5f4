import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { eventually } from '@wts/testkit';
import { peerReader } from '../client-address.ts';
import { NetworkConnections } from './network-connections.ts';

const IDLE_MS = 1000;

describe('connections without a credential', () => {
  let server: Server;
  let shared: NetworkConnections;
  let nowMs: number;
  let isFull: boolean;
  let open: Socket[];
  beforeEach(async () => {
    [nowMs, isFull, open] = [0, false, []];
    const networkOf = peerReader(['127.0.0.9']);
    shared = new NetworkConnections({
      ofNetworkMax: 3,
      refusedOfNetworkMax: 1,
      idleMs: IDLE_MS,
      networkOf,
      now: () => nowMs,
    });
    server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });

  /** Connects from an address of this machine. Returns the server's socket and whether it was admitted. */
  async function connectFrom(from: string): Promise<{ socket: Socket; client: Socket; isAdmitted: boolean }> {
    const { port } = server.address() as AddressInfo;
    const client = connect({ port, host: '127.0.0.1', localAddress: from });
    client.on('error', () => undefined);
    const [socket] = (await once(server, 'connection')) as [Socket];
    socket.on('error', () => undefined);
    open.push(client, socket);
    return { socket, client, isAdmitted: shared.admit(socket, isFull) };
  }

  async function connectTimes(count: number, from: string): Promise<Socket[]> {
    const sockets: Socket[] = [];
    for (let at = 0; at < count; at += 1) {
      const { socket, isAdmitted } = await connectFrom(from);
      assert.ok(isAdmitted);
      sockets.push(socket);
      nowMs += 1;
    }
    return sockets;
  }

  it('are limited per network, independent of other networks and of configured proxies [limits.connections.network]', async () => {
    await connectTimes(3, '127.0.0.1');
    assert.equal((await connectFrom('127.0.0.1')).isAdmitted, false);
    await connectTimes(3, '127.0.0.2');
    await connectTimes(5, '127.0.0.9');
  });

  it('of a full network are closed for new ones, the longest idle first', async () => {
    const [first, second] = await connectTimes(3, '127.0.0.1');
    nowMs = IDLE_MS;
    shared.markActive(first ?? null);
    nowMs = IDLE_MS + 10;
    assert.equal((await connectFrom('127.0.0.1')).isAdmitted, true);
    assert.deepEqual([first?.destroyed, second?.destroyed], [false, true]);
  });

  it('of any network are closed for new ones when the process is full', async () => {
    const [first] = await connectTimes(1, '127.0.0.1');
    isFull = true;
    assert.equal((await connectFrom('127.0.0.2')).isAdmitted, false, 'it is not idle for long enough');
    nowMs = IDLE_MS + 10;
    assert.equal((await connectFrom('127.0.0.2')).isAdmitted, true);
    assert.equal(first?.destroyed, true);
  });

  it('do not count for the network while a request has a credential, and count again after its answer', async () => {
    const authenticated = await connectTimes(3, '127.0.0.1');
    for (const socket of authenticated) shared.authenticated(socket);
    await connectTimes(3, '127.0.0.1');
    nowMs += 2 * IDLE_MS;
    isFull = true;
    assert.equal((await connectFrom('127.0.0.2')).isAdmitted, true);
    assert.ok(authenticated.every(({ destroyed }) => !destroyed));
    isFull = false;
    for (const socket of authenticated) shared.markActive(socket);
    assert.equal((await connectFrom('127.0.0.1')).isAdmitted, false);
  });

  it('that are refused are closed without an answer when there are many, and use no memory afterwards', async () => {
    await connectTimes(3, '127.0.0.1');
    const refused = [await connectFrom('127.0.0.1'), await connectFrom('127.0.0.1')];
    assert.deepEqual(
      refused.map(({ socket, isAdmitted }) => [isAdmitted, socket.destroyed]),
      [
        [false, false],
        [false, true],
      ],
    );
    for (const socket of open) socket.destroy();
    await eventually(() => shared.networks === 0);
  });
});
