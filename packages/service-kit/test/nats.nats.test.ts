import assert from 'node:assert/strict';
import dns from 'node:dns';
import { once } from 'node:events';
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';
import { mock } from 'node:test';
import { eventually, openWire, testNats, type Wire } from '@wts/testkit';
import { natsSettings, parseSettings } from '../src/config/index.ts';
import { openNats, type Nats } from '../src/nats/index.ts';
import { createLogger } from '../src/observe/index.ts';

const PASSWORD = 'hunter2';
const written: string[] = [];
const log = createLogger({
  name: 'demo',
  level: 'debug',
  destination: { write: (line: string) => void written.push(line) },
});

describe('the connection to NATS', () => {
  let server: Awaited<ReturnType<typeof testNats>>;
  let wire: Wire;
  let stack: AsyncDisposableStack;
  before(async () => (server = await testNats('kit', PASSWORD)));
  after(() => server.stop());
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    wire = await openWire({ host: '127.0.0.1', port: server.port });
  });
  afterEach(async () => {
    wire.mend();
    await stack.disposeAsync();
    await wire[Symbol.asyncDispose]();
    written.length = 0;
  });
  const open = (url = wire.through(server.url)): Nats => openNats({ natsUrls: [url], name: 'demo', log, stack });

  it('is established with the credentials of its address', async () => {
    const nats = open();
    await nats.ready;
    await nats.connection()?.flush();
  });

  it('is opened while there is no server, without waiting or failing, and is established when it is up', async () => {
    wire.cut();
    const nats = open();
    assert.equal(nats.connection(), null);
    await eventually(() => written.some((line) => line.includes('cannot connect to NATS')));
    wire.mend();
    await nats.ready;
    assert.ok(nats.connection());
  });

  it('logs a refused subject once, and not with each message', async () => {
    const nats = open(server.urlOf('gateway'));
    await nats.ready;
    for (let count = 0; count < 50; count += 1) nats.connection()?.publish('wts.log', 'x');
    const refusals = (): { level: string }[] =>
      written.filter((line) => line.includes('NATS refused')).map((line) => JSON.parse(line) as { level: string });
    await eventually(() => refusals().length === 50 || undefined);
    assert.equal(refusals().filter(({ level }) => level === 'warn').length, 1);
  });

  it('is null while it is lost, so that no messages accumulate, and calls onConnect when it is back', async () => {
    const nats = open();
    let connections = 0;
    nats.onConnect(() => {
      connections += 1;
    });
    await nats.ready;
    assert.equal(connections, 1);
    wire.cut();
    await eventually(() => nats.connection() === null);
    wire.mend();
    await eventually(() => connections === 2);
    assert.ok(nats.connection());
    nats.onConnect(() => {
      connections += 10;
    });
    assert.equal(connections, 12, 'a late listener is called immediately');
  });

  it('leaves no socket open at a server that accepts and says nothing, so that its end cannot end a later connection', async () => {
    const opened: Socket[] = [];
    await using silent = createServer((socket) => opened.push(socket.resume())).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    open(`nats://127.0.0.1:${port}`);
    await eventually(() => written.some((line) => line.includes('cannot connect to NATS')));
    await eventually(() => opened.length > 0 && opened.every(({ closed }) => closed));
    await stack.disposeAsync();
    for (const socket of opened) socket.destroy();
  });

  it('is one, also when the first address of a name refuses it after the greeting and the second accepts it', async () => {
    const opened: Socket[] = [];
    await using gate = createServer((socket) => {
      opened.push(socket.on('error', () => {}));
      if (opened.length === 1)
        return void socket
          .resume()
          .end(`INFO {"version":"2.14.0","max_payload":1024}\r\n-ERR 'Authorization Violation'\r\n`);
      const upstream = createConnection(server.port, '127.0.0.1').on('error', () => {});
      socket.pipe(upstream).pipe(socket);
    }).listen(0, '127.0.0.1');
    await once(gate, 'listening');
    type Answer = (error: Error | null, addresses: string[]) => void;
    const answers = [
      mock.method(dns, 'resolve4', (_name: string, answer: Answer) => answer(null, ['127.0.0.1', '127.0.0.1'])),
      mock.method(dns, 'resolve6', (_name: string, answer: Answer) => answer(null, [])),
    ];
    stack.defer(() => answers.forEach((one) => one.mock.restore()));
    const { port } = gate.address() as AddressInfo;
    const url = new URL(server.url);
    url.host = `nats.example:${port}`;
    await using ends = new AsyncDisposableStack();
    ends.defer(() => stack.disposeAsync());
    ends.defer(() => opened.forEach((socket) => socket.destroy()));
    const nats = open(url.href);
    await eventually(() => nats.connection() !== null && opened.filter(({ closed }) => !closed).length === 1);
    await nats.connection()?.flush();
  });

  it('is made anew when the server ends it, and the log has the reason that the server gave', async () => {
    const nats = open();
    let connections = 0;
    nats.onConnect(() => (connections += 1));
    await nats.ready;
    nats.connection()?.publish('wts.rates 0\r\n\r\nBOGUS');
    await eventually(() => connections === 2);
    const lines = written.map((line) => JSON.parse(line) as { msg: string; reason?: string });
    const ended = lines.find(({ msg }) => msg.startsWith('the connection to NATS ended'));
    assert.equal(ended?.reason, "'Unknown Protocol Operation'");
  });

  it('survives an error of a listener', async () => {
    const nats = open();
    await nats.ready;
    nats.onConnect(() => {
      throw new Error('a bug in a listener');
    });
    assert.ok(nats.connection());
    assert.match(written.join(''), /could not use the connection to NATS/);
  });

  it('is closed immediately while there is no server', async () => {
    wire.freeze();
    open();
    const started = performance.now();
    await stack.disposeAsync();
    // A connection attempt takes up to 3 s.
    assert.ok(performance.now() - started < 2_500);
  });

  it('tries the other addresses of a cluster, as an operator lists them', async () => {
    const gone = await openWire({ host: '127.0.0.1', port: server.port });
    const given = { NATS_URL: `${gone.through(server.url)}, ${wire.through(server.url)}` };
    const config = parseSettings(natsSettings('For a test.'), given);
    gone.cut();
    await openNats({ ...config, name: 'demo', log, stack }).ready;
    await gone[Symbol.asyncDispose]();
  });

  it('is established again with whichever of two passwords the server accepts, and with no other [secrets.nats]', async () => {
    await using rotated = await testNats('kit-rotated', 'new password');
    const address = { natsUrls: [wire.through(server.url)], name: 'demo', log, stack };
    const nats = openNats({ ...address, natsOtherPassword: 'new password' });
    for (const { port } of [rotated, server, rotated]) {
      await nats.ready;
      await nats.connection()?.flush();
      wire.redirect({ host: '127.0.0.1', port });
      wire.cut();
      await eventually(() => nats.connection() === null);
      wire.mend();
      await eventually(() => nats.connection());
    }
    openNats(address);
    await eventually(() => written.some((line) => line.includes('cannot connect to NATS')));
  });

  it('never writes its password into the log', async () => {
    await open().ready;
    assert.ok(!written.join('').includes(PASSWORD));
  });
});
