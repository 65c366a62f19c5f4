import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { RingChunk } from '../hub/ring.ts';
import { GroupListeners, type GroupListener } from './group-listeners.ts';

describe('the listeners of a group', () => {
  const chunkOf = (...groups: string[]): RingChunk => ({ groups: new Set(groups) }) as unknown as RingChunk;

  /** A set that counts its iterations. */
  class Counted extends Set<string> {
    iterations = 0;
    override [Symbol.iterator](): SetIterator<string> {
      this.iterations += 1;
      return super[Symbol.iterator]();
    }
  }

  it('are stored once for all sockets of a person, however many groups and sockets they have [never.unbounded]', () => {
    const reader = { userId: randomUUID() };
    const groups = new Counted(Array.from({ length: 10_000 }, () => randomUUID()));
    groups.iterations = 0;
    const groupListeners = new GroupListeners<GroupListener>();
    let woken = 0;
    const listeners = Array.from({ length: 1_000 }, () => ({ wake: () => void (woken += 1) }));
    for (const listener of listeners) groupListeners.set(listener, reader, { groups, at: 5n });
    groupListeners.wake(chunkOf([...groups][77]!, randomUUID()));
    assert.equal(woken, listeners.length);
    for (const listener of listeners.slice(1)) groupListeners.remove(listener, reader);
    assert.ok(groups.iterations <= 2, `its groups were iterated ${groups.iterations} times`);
    groupListeners.wake(chunkOf([...groups][9_999]!));
    assert.equal(woken, listeners.length + 1);
    groupListeners.remove(listeners[0]!, reader);
    groupListeners.wake(chunkOf(...groups));
    assert.equal(woken, listeners.length + 1);
  });

  it('are set by the latest groups of a reader, whatever arrives late', () => {
    const reader = { userId: randomUUID() };
    const [lost, kept, gained] = [randomUUID(), randomUUID(), randomUUID()] as [string, string, string];
    const groupListeners = new GroupListeners<GroupListener>();
    const woken: string[] = [];
    const named = (name: string): GroupListener => ({ wake: () => void woken.push(name) });
    const [one, two] = [named('one'), named('two')];
    groupListeners.set(one, reader, { groups: new Set([lost, kept]), at: 3n });
    groupListeners.set(two, reader, { groups: new Set([kept, gained]), at: 7n });
    groupListeners.set(one, reader, { groups: new Set([lost, kept]), at: 4n });
    for (const group of [lost, kept, gained]) groupListeners.wake(chunkOf(group));
    assert.deepEqual(woken, ['one', 'two', 'one', 'two']);
    // A credential for one workspace is another reader.
    groupListeners.set(one, { ...reader, workspaceId: kept }, { groups: new Set([kept]), at: 9n });
    woken.length = 0;
    groupListeners.wake(chunkOf(gained));
    assert.deepEqual(woken, ['one', 'two']);
  });
});
