import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { eventually, receiver, testClock, testNats } from '../src/index.ts';

describe('eventually', () => {
  it('gives back the first answer that is something', async () => {
    let looks = 0;
    equal(await eventually(() => (++looks < 3 ? null : `look ${looks}`)), 'look 3');
  });

  it('ends at its deadline with the last fault as cause', async () => {
    const fault = new Error('still closed');
    await rejects(
      eventually(() => Promise.reject(fault), { deadlineMs: 30 }),
      (error: Error) => {
        match(error.message, /not so after 30 ms: still closed/);
        return error.cause === fault;
      },
    );
  });
});

describe('testClock', () => {
  it('moves only when told to', () => {
    const clock = testClock('2026-01-01T00:00:00Z');
    const before = clock.now();
    clock.advance(1_500);
    equal(clock.now() - before, 1_500);
    clock.set('2027-01-01T00:00:00Z');
    equal(clock.nowSeconds(), 1_798_761_600);
  });
});

describe('receiver', () => {
  it('keeps what it was sent and answers as told', async () => {
    await using far = await receiver();
    equal((await fetch(far.url, { method: 'POST', body: 'one' })).status, 204);
    far.answer({ status: 410, body: 'gone' });
    equal((await fetch(`${far.url}/two?x=1`, { method: 'POST', body: 'two', headers: { 'x-n': '2' } })).status, 410);
    const all = await far.until((received) => received.length === 2);
    deepEqual(
      all.map(({ method, path, body }) => [method, path, body]),
      [
        ['POST', '/', 'one'],
        ['POST', '/two?x=1', 'two'],
      ],
    );
    equal(all[1]?.headers['x-n'], '2');
    far.answer('reset');
    await rejects(fetch(far.url));
  });
});

describe('testNats', () => {
  it('starts, dies and comes back at the same address with what was stored', async () => {
    await using nats = await testNats();
    const first = nats.pid();
    await nats.kill();
    await rejects(fetch(`http://127.0.0.1:${nats.port}`));
    await nats.start();
    equal(first === nats.pid(), false);
    match(nats.url, /^nats:\/\/127\.0\.0\.1:\d+$/);
  });
});
