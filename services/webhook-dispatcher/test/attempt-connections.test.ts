import { eventually, receiver, testAuthority } from '@wts/testkit';
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { blackHole } from './black-hole.ts';
import { dnsServer } from './dns-server.ts';
import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';
import { rawConsumer, type Behavior } from './raw-consumer.ts';
import { SECRET, sharedAuthority, testSender } from './sender.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const HOUR_MS = 3_600_000;

const consumerThat = async (onRequest: Behavior) =>
  rawConsumer({ tls: await (await sharedAuthority()).issue(), onRequest });
const openSender = async () => testSender({ authority: await sharedAuthority() });

describe('TLS of a consumer', () => {
  const WRONG: Readonly<Record<string, () => Promise<TlsOptions>>> = {
    'has expired': async () => (await sharedAuthority()).issue({ notAfter: new Date(Date.now() - HOUR_MS) }),
    'is not valid yet': async () => (await sharedAuthority()).issue({ notBefore: new Date(Date.now() + HOUR_MS) }),
    'is of an unknown authority': async () => (await testAuthority()).issue(),
    'is of another host': async () => (await sharedAuthority()).issue({ hosts: ['other.test', '127.0.0.2'] }),
    'lacks an intermediate certificate': async () => (await sharedAuthority()).issue({ intermediate: 'missing' }),
    'is older than TLS 1.2': async () => ({
      ...(await (await sharedAuthority()).issue()),
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    }),
    'asks for a certificate of the client': async () => ({
      ...(await (await sharedAuthority()).issue()),
      requestCert: true,
      rejectUnauthorized: true,
      maxVersion: 'TLSv1.2',
    }),
  };
  for (const [what, options] of Object.entries(WRONG)) {
    it(`that ${what} is refused before a byte of the request is sent`, async () => {
      await using consumer = await rawConsumer({ tls: await options(), onRequest: (socket) => void socket.write(OK) });
      await using sender = await openSender();
      const { error, statusCode } = await sender.send(consumer.url);
      assert.deepEqual([error, statusCode, consumer.bytesReceived()], ['tls_error', null, 0]);
      await consumer.untilNoConnections();
    });
  }

  it('that asks for a certificate under TLS 1.3 fails the attempt', async () => {
    const identity = await (await sharedAuthority()).issue();
    const tls = { ...identity, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.3' } as const;
    await using consumer = await rawConsumer({ tls });
    await using sender = await openSender();
    const { error } = await sender.send(consumer.url);
    assert.ok(error === 'tls_error' || error === 'connection_reset', String(error));
  });

  it('that knows no such name is refused', async () => {
    await using dns = await dnsServer();
    dns.set('consumer.test', { addresses: ['127.0.0.1'] });
    const authority = await sharedAuthority();
    const identity = await authority.issue({ hosts: ['consumer.test'] });
    const asked: string[] = [];
    const tls: TlsOptions = {
      ...identity,
      SNICallback: (name, callback) => {
        asked.push(name);
        callback(new Error('unknown name'));
      },
    };
    await using consumer = await rawConsumer({ tls });
    await using sender = testSender({ authority, dnsServers: [dns.address] });
    const { port } = new URL(consumer.url);
    const { error } = await sender.send(`https://Consumer.test.:${port}/`);
    assert.ok(error === 'tls_error' || error === 'connection_reset', String(error));
    assert.deepEqual([asked, consumer.bytesReceived()], [['consumer.test'], 0]);
  });

  it('that is none at all is refused', async () => {
    await using plain = await receiver();
    await using sender = await openSender();
    const { error } = await sender.send(plain.url.replace('http:', 'https:'));
    assert.deepEqual([error, plain.received.length], ['tls_error', 0]);
  });

  it('that is right is accepted, with a chain and for a name', async () => {
    await using dns = await dnsServer();
    dns.set('consumer.test', { addresses: ['127.0.0.1'] });
    const authority = await sharedAuthority();
    const identity = await authority.issue({ hosts: ['consumer.test', '127.0.0.1'], intermediate: 'shown' });
    await using consumer = await receiver({ identity });
    await using sender = testSender({ authority, dnsServers: [dns.address] });
    const { port } = new URL(consumer.url);
    for (const host of ['consumer.test', 'consumer.test.', '127.0.0.1']) {
      const { error, statusCode } = await sender.send(`https://${host}:${port}/`);
      assert.deepEqual([error, statusCode], [null, 204], host);
    }
  });

  it('is verified whatever the environment says', async () => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      await using consumer = await rawConsumer({ tls: await (await testAuthority()).issue() });
      await using sender = await openSender();
      assert.equal((await sender.send(consumer.url)).error, 'tls_error');
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  });
});

describe('connections of attempts', () => {
  it('are used again, one request at a time', async () => {
    await using consumer = await receiver({ identity: await (await sharedAuthority()).issue() });
    await using sender = await openSender();
    for (let round = 0; round < 5; round++)
      await Promise.all([sender.send(`${consumer.url}/a`), sender.send(`${consumer.url}/b`)]);
    assert.deepEqual(sender.connections, ['new', 'new', ...Array<string>(8).fill('reused')]);
    assert.equal(new Set(consumer.received.map(({ connection }) => connection)).size, 2);
  });

  it('hold on to no event while they are idle', async () => {
    await using consumer = await receiver({ identity: await (await sharedAuthority()).issue() });
    await using sender = await openSender();
    const sendLarge = async (): Promise<WeakRef<object>> => {
      const request = {
        url: consumer.url,
        eventId: 'large',
        body: 'x'.repeat(100_000),
        secrets: [SECRET],
        beginsAtMs: 0,
      };
      await sender.sendRequest(request);
      return new WeakRef(request);
    };
    const requests = [await sendLarge(), await sendLarge()];
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    await eventually(() => {
      collectGarbage();
      return requests.every((request) => request.deref() === undefined);
    });
    assert.equal(sender.openConnections(), 1);
  });

  it('that end as the request is on its way have it sent again at once, with the same id', async () => {
    await using consumer = await consumerThat((socket, number) => {
      if (number === 2) socket.destroy();
      else socket.write(OK);
    });
    await using sender = await openSender();
    await sender.send(consumer.url);
    const { error, statusCode } = await sender.send(consumer.url, { eventId: 'second' });
    assert.deepEqual([error, statusCode], [null, 200]);
    assert.deepEqual(sender.connections, ['new', 'reused', 'resent']);
    const [, second, third] = consumer.requests.map((request) => /webhook-id: (.*)\r/.exec(request)?.[1]);
    assert.deepEqual([second, third, consumer.requests.length], ['second', 'second', 3]);
  });

  it('have a request sent again only once', async () => {
    await using consumer = await consumerThat((socket, number) => {
      if (number === 1) socket.write(OK);
      else socket.destroy();
    });
    await using sender = await openSender();
    await sender.send(consumer.url);
    assert.equal((await sender.send(consumer.url)).error, 'connection_reset');
    assert.equal(consumer.requests.length, 3);
  });

  it('that are new, or brought part of an answer, have no request sent again', async () => {
    await using resetting = await consumerThat((socket) => void socket.destroy());
    await using halving = await consumerThat((socket, number) => {
      if (number === 1) socket.write(OK);
      else socket.end('HTTP/1.1 2');
    });
    await using sender = await openSender();
    assert.equal((await sender.send(resetting.url)).error, 'connection_reset');
    assert.equal(resetting.requests.length, 1);
    await sender.send(halving.url);
    assert.notEqual((await sender.send(halving.url)).error, null);
    assert.equal(halving.requests.length, 2);
  });

  it('that are shut or cut while idle cost no attempt', async () => {
    const endings: readonly ((socket: Socket) => unknown)[] = [(socket) => socket.end(), (socket) => socket.destroy()];
    for (const end of endings) {
      await using consumer = await consumerThat((socket) => {
        socket.write(OK);
        setTimeout(() => end(socket), Math.random() * 4);
      });
      await using sender = await openSender();
      const outcomes: (string | null)[] = [];
      for (let round = 0; round < 30; round++) {
        outcomes.push((await sender.send(consumer.url)).error);
        if (round % 2 === 0) await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
      }
      assert.deepEqual(
        outcomes.filter((outcome) => outcome !== null),
        [],
      );
    }
  });

  it('that bring an answer without a request are closed, and cost no attempt', async () => {
    await using consumer = await consumerThat((socket) => {
      socket.write(OK);
      setTimeout(() => socket.write('HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n'), 20);
    });
    await using sender = await openSender();
    for (let round = 0; round < 3; round++) {
      assert.equal((await sender.send(consumer.url)).statusCode, 200);
      await consumer.untilNoConnections();
    }
  });

  it('that the consumer closes after each answer, or keeps for a second, cost no attempt', async () => {
    for (const header of [
      'connection: close',
      'connection: keep-alive\r\nkeep-alive: timeout=1',
      'keep-alive: timeout=x',
    ]) {
      const isClosed = header === 'connection: close';
      await using consumer = await consumerThat((socket) => {
        socket[isClosed ? 'end' : 'write'](`HTTP/1.1 200 OK\r\n${header}\r\ncontent-length: 0\r\n\r\n`);
      });
      await using sender = await openSender();
      for (let round = 0; round < 10; round++) assert.equal((await sender.send(consumer.url)).error, null);
      assert.ok(!isClosed || !sender.connections.includes('resent'), sender.connections.join());
    }
  });

  it('fail with a word for each reason, and go to another address of the name that accepts', async function () {
    // Elsewhere 127.0.0.8 is no address of the machine, and a full queue refuses.
    if (process.platform !== 'linux') return this.skip();
    await using dns = await dnsServer();
    const authority = await sharedAuthority();
    await using consumer = await receiver({ identity: await authority.issue({ hosts: ['consumer.test'] }) });
    const port = Number(new URL(consumer.url).port);
    await using _hole = await blackHole('127.0.0.8', port);
    await using sender = testSender({ authority, dnsServers: [dns.address], deadlineMs: 5_000 });
    await using hasty = testSender({ authority, deadlineMs: 500 });
    // Nothing listens at 127.0.0.9 on that port.
    dns.set('consumer.test', { addresses: ['127.0.0.9', '127.0.0.8', '127.0.0.1'] });
    assert.equal((await sender.send(`https://consumer.test:${port}/`)).error, null);
    assert.equal((await sender.send(`https://127.0.0.9:${port}/`)).error, 'connection_refused');
    assert.equal((await hasty.send(`https://127.0.0.8:${port}/`)).error, 'connect_timeout');
  });

  it('are used again when many endpoints share an origin', async () => {
    await using consumer = await receiver({ identity: await (await sharedAuthority()).issue() });
    await using sender = await openSender();
    // As many at a time as the lanes allow for an origin.
    const endpoints = Array.from({ length: 16 }, async (_, first) => {
      for (let index = first; index < 200; index += 16)
        assert.equal((await sender.send(`${consumer.url}/${index}`)).error, null);
    });
    await Promise.all(endpoints);
    assert.equal(sender.connections.length, 200);
    assert.ok(sender.connections.filter((kind) => kind === 'reused').length > 150);
  });

  it('are bounded when more consumers fail than may stay connected, and none is in the way of another', async () => {
    const IDLE_MAX = 60;
    const authority = await sharedAuthority();
    await using dns = await dnsServer();
    await using consumer = await rawConsumer({
      tls: await authority.issue({ hosts: ['*.consumer.test'] }),
      onRequest: (socket) => void socket.write('HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n'),
    });
    await using sender = testSender({ authority, dnsServers: [dns.address], idleMax: IDLE_MAX });
    const { port } = new URL(consumer.url);
    const names = Array.from({ length: 90 }, (_, index) => `c${index}.consumer.test`);
    for (const name of names) dns.set(name, { addresses: ['127.0.0.1'] });
    for (let first = 0; first < names.length; first += 30) {
      const batch = names.slice(first, first + 30).map((name) => sender.send(`https://${name}:${port}/`));
      for (const { statusCode } of await Promise.all(batch)) assert.equal(statusCode, 500);
    }
    assert.ok(sender.openConnections() <= IDLE_MAX, `${sender.openConnections()} connections`);
    // Of one origin sixteen stay.
    const one = Array.from({ length: 40 }, () => sender.send(`https://c89.consumer.test:${port}/`));
    assert.ok((await Promise.all(one)).every(({ statusCode }) => statusCode === 500));
    assert.ok(sender.openConnections() <= IDLE_MAX);
    await eventually(() => consumer.openConnections() <= IDLE_MAX);
  });
});
