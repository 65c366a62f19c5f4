import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { connect } from 'node:tls';
import { once } from 'node:events';
import { eventually, receiver, testAuthority, testClock, testNats } from '../src/index.ts';

describe('eventually', () => {
  it('resolves to the first result that is not null', async () => {
    let calls = 0;
    equal(await eventually(() => (++calls < 3 ? null : `call ${calls}`)), 'call 3');
  });

  it('rejects at its deadline with the last error as cause', async () => {
    const lastError = new Error('still closed');
    await rejects(
      eventually(() => Promise.reject(lastError), { deadlineMs: 30 }),
      (error: Error) => {
        match(error.message, /condition not met after 30 ms: still closed/);
        return error.cause === lastError;
      },
    );
  });
});

describe('testClock', () => {
  it('moves only when a test moves it', () => {
    const clock = testClock('2026-01-01T00:00:00Z');
    const before = clock.now();
    clock.advance(1_500);
    equal(clock.now() - before, 1_500);
    clock.set('2027-01-01T00:00:00Z');
    equal(clock.nowSeconds(), 1_798_761_600);
  });
});

describe('receiver', () => {
  it('stores requests and replies as set', async () => {
    await using endpoint = await receiver();
    equal((await fetch(endpoint.url, { method: 'POST', body: 'one' })).status, 204);
    endpoint.answer({ status: 410, body: 'gone' });
    equal(
      (await fetch(`${endpoint.url}/two?x=1`, { method: 'POST', body: 'two', headers: { 'x-n': '2' } })).status,
      410,
    );
    const all = await endpoint.until((received) => received.length === 2);
    deepEqual(
      all.map(({ method, path, body }) => [method, path, body]),
      [
        ['POST', '/', 'one'],
        ['POST', '/two?x=1', 'two'],
      ],
    );
    equal(all[1]?.headers['x-n'], '2');
    endpoint.answer('reset');
    await rejects(fetch(endpoint.url));
  });
});

describe('testAuthority', () => {
  const handshake = async (url: string, ca: string, servername?: string): Promise<string> => {
    const socket = connect({
      port: Number(new URL(url).port),
      host: '127.0.0.1',
      ca,
      ...(servername && { servername }),
    });
    try {
      await once(socket, 'secureConnect');
      return 'trusted';
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? String(error);
    } finally {
      socket.destroy();
    }
  };

  it('issues what clients that trust it accept: for its hosts, in its time, with the chain complete', async () => {
    const authority = await testAuthority();
    const outcomes: string[] = [];
    for (const identity of [
      await authority.issue(),
      await authority.issue({ intermediate: 'shown' }),
      await authority.issue({ intermediate: 'missing' }),
      await authority.issue({ hosts: ['other.test'] }),
      await authority.issue({ notAfter: new Date(Date.now() - 60_000) }),
      await (await testAuthority()).issue(),
    ]) {
      await using consumer = await receiver({ identity });
      outcomes.push(await handshake(consumer.url, authority.certificate));
    }
    deepEqual(outcomes, [
      'trusted',
      'trusted',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'CERT_HAS_EXPIRED',
      'CERT_SIGNATURE_FAILURE',
    ]);
  });

  it('issues for names and addresses alike', async () => {
    const authority = await testAuthority();
    await using consumer = await receiver({ identity: await authority.issue({ hosts: ['a.test', '127.0.0.1'] }) });
    equal(await handshake(consumer.url, authority.certificate, 'a.test'), 'trusted');
    equal(await handshake(consumer.url, authority.certificate), 'trusted');
  });
});

describe('testNats', () => {
  it('starts again at the same address after a kill', async () => {
    await using nats = await testNats();
    const first = nats.pid();
    await nats.kill();
    await rejects(fetch(`http://127.0.0.1:${nats.port}`));
    await nats.start();
    equal(first === nats.pid(), false);
    match(nats.url, /^nats:\/\/127\.0\.0\.1:\d+$/);
  });
});
