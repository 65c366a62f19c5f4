import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { eventually, receiver, testClock, testNats } from '../src/index.ts';

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
