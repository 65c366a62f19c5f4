import assert from 'node:assert/strict';
import { KEY_LEAD_MS, planKeys, signingKeyAt } from './key-plan.ts';

const DAY_MS = 24 * 60 * 60_000;
const ROTATION_MS = 30 * DAY_MS;
const START = Date.parse('2026-11-23T00:00:00Z');

/** Runs rounds from the first start on. */
function simulate(days: number, everyMs: number, onRound: (nowMs: number, keys: Key[], old: Key[]) => void): void {
  const keys: Key[] = [];
  const old: Key[] = [];
  for (let now = START; now <= START + days * DAY_MS; now += everyMs) {
    const { makeFrom, deleteIds } = planKeys(keys, now, ROTATION_MS);
    if (makeFrom !== null) keys.push({ id: String(keys.length + old.length), signsFrom: makeFrom, madeAt: now });
    for (const id of deleteIds)
      old.push(
        ...keys.splice(
          keys.findIndex((key) => key.id === id),
          1,
        ),
      );
    onRound(now, keys, old);
  }
}

interface Key {
  readonly id: string;
  readonly signsFrom: Date;
  readonly madeAt: number;
}

describe('the keys of access tokens', () => {
  it('rotate every 30 days: a key is published an hour before it signs, and until its last token has expired', () => {
    const lastSignedMs = new Map<string, number>();
    const seen = new Set<string>();
    simulate(100, 20 * 60_000, (now, keys, old) => {
      const signing = signingKeyAt(keys, now);
      assert.ok(signing, 'a key signs at any time');
      assert.ok(signing.id === '0' || now - signing.madeAt >= KEY_LEAD_MS);
      seen.add(signing.id);
      lastSignedMs.set(signing.id, now);
      for (const { id } of old) assert.ok(now - (lastSignedMs.get(id) ?? now) > 30 * 60_000, 'its tokens are over');
      assert.ok(keys.length <= 2);
    });
    assert.deepEqual([...seen], ['0', '1', '2', '3']);
  });

  it('sign for a replica whose clock is late', () => {
    const first = { id: 'first', signsFrom: new Date(START) };
    const next = { id: 'next', signsFrom: new Date(START + ROTATION_MS) };
    assert.equal(signingKeyAt([next, first], START - 5_000), first);
    assert.equal(signingKeyAt([], START), undefined);
  });

  it('are made ahead of their time also after rounds were late', () =>
    simulate(200, 40 * DAY_MS, (now, keys) => {
      const signing = signingKeyAt(keys, now);
      assert.ok(signing && (signing.id === '0' || now - signing.madeAt >= KEY_LEAD_MS));
    }));
});
