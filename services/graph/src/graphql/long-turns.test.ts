import assert from 'node:assert/strict';
import { LongTurns } from './long-turns.ts';

const { signal } = new AbortController();

describe('work that nothing can interrupt', () => {
  it('runs in turns of people, so that those of one wait behind each other and not before another person [graphql.limit.loop]', async () => {
    const turns = new LongTurns((person) => person);
    const order: string[] = [];
    const work = (person: string, name: string): Promise<number> => turns.run(person, signal, () => order.push(name));
    await Promise.all([work('ada', 'a1'), work('ada', 'a2'), work('ada', 'a3'), work('bob', 'b1')]);
    assert.deepEqual(order, ['a1', 'b1', 'a2', 'a3']);
  });

  it('lets the event loop go on between two pieces', async () => {
    const turns = new LongTurns((person) => person);
    let loops = 0;
    const count = (): void => {
      loops += 1;
      if (loops < 100) setImmediate(count);
    };
    setImmediate(count);
    const at: number[] = [];
    await Promise.all([0, 1, 2, 3].map(() => turns.run('ada', signal, () => at.push(loops))));
    assert.equal(new Set(at).size, 4, at.join());
  });

  it('never begins for a request that ended while it waited, which gets the reason [graphql.limit.loop]', async () => {
    const turns = new LongTurns((person) => person);
    const leaving = new AbortController();
    let begun = 0;
    const first = turns.run('ada', signal, () => (begun += 1));
    const second = turns.run('ada', leaving.signal, () => (begun += 1));
    const reason = new Error('the client has left');
    leaving.abort(reason);
    await assert.rejects(second, reason);
    await assert.rejects(
      turns.run('bob', leaving.signal, () => (begun += 1)),
      reason,
    );
    assert.equal(await first, 1);
    await turns.run('ada', signal, () => undefined);
    assert.equal(begun, 1);
  });

  it('holds its turn no longer than the piece itself, whatever it waits for after', async () => {
    const turns = new LongTurns((person) => person);
    const { promise, resolve } = Promise.withResolvers<string>();
    const waiting = turns.run('ada', signal, () => promise);
    await turns.run('bob', signal, () => undefined);
    resolve('over');
    assert.equal(await waiting, 'over');
  });
});
