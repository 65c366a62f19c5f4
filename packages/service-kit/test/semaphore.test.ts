import assert from 'node:assert/strict';
import { Semaphore, SenderSemaphores } from '../src/call/index.ts';

describe('a semaphore', () => {
  it('runs a bounded number of tasks concurrently, in order [never.unbounded]', async () => {
    const semaphore = new Semaphore(2);
    let running = 0;
    let most = 0;
    const done: number[] = [];
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        semaphore.run(async () => {
          most = Math.max(most, (running += 1));
          await new Promise(setImmediate);
          running -= 1;
          done.push(index);
        }),
      ),
    );
    assert.equal(most, 2);
    assert.deepEqual(
      done,
      Array.from({ length: 20 }, (_, index) => index),
    );
  });

  it('continues after a task that failed', async () => {
    const semaphore = new Semaphore(1);
    await assert.rejects(
      semaphore.run(() => Promise.reject(new Error('no'))),
      /no/,
    );
    assert.equal(await semaphore.run(async () => 'yes'), 'yes');
  });
});

describe('the semaphores of senders', () => {
  it('refuse tasks over a bound and after a time, and store nothing of senders without tasks [limits.look-ups.network, never.unbounded]', async () => {
    const semaphores = new SenderSemaphores({ atOnce: 1, waitingMax: 2, waitMs: 20, refusal: 'Too many.' });
    const { promise, resolve } = Promise.withResolvers<void>();
    let begun = 0;
    const task = (): Promise<void> => {
      begun += 1;
      return promise;
    };
    const first = semaphores.run('a', task);
    const waiting = [semaphores.run('a', task), semaphores.run('a', task)].map((one) =>
      assert.rejects(one, { code: 'unavailable' }),
    );
    await assert.rejects(semaphores.run('a', task), { code: 'unavailable' });
    const other = semaphores.run('b', task);
    assert.equal(begun, 2);
    await new Promise((done) => setTimeout(done, 30));
    resolve();
    await Promise.all([first, other, ...waiting]);
    assert.equal(begun, 2, 'what waited too long is not begun');
    await semaphores.run('a', task);
    assert.equal(begun, 3);
  });
});
