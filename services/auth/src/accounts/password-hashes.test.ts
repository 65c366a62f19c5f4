import type { Fault } from '@wts/contracts';
import assert from 'node:assert/strict';
import { eventually } from '@wts/testkit';
import { PasswordHashes } from './password-hashes.ts';
import { AUTH_LIMITS } from '../limits.ts';

const CHEAP = 10;

describe('hashes of passwords', () => {
  const signal = AbortSignal.timeout(60_000);
  const at = (network: string): { network: string; signal: AbortSignal } => ({ network, signal });

  it('are scrypt with N = 2^17, r = 8, p = 1 with these in them', async () => {
    const hashes = new PasswordHashes(17);
    const hash = await hashes.hash('correct horse', at('a'));
    assert.match(hash, /^\$scrypt\$ln=17,r=8,p=1\$[\w-]{22}\$[\w-]{43}$/);
    assert.equal(await hashes.verify('correct horse', hash, at('a')), true);
  });

  it('match after a change of the cost, which is recognized, and for both spellings of a letter', async () => {
    const [old, current] = [new PasswordHashes(CHEAP), new PasswordHashes(CHEAP + 1)];
    const hash = await old.hash('Ärger mit Ä', at('a'));
    assert.equal(await old.verify('Ärger mit E', hash, at('a')), false);
    assert.equal(await current.verify('A\u0308rger mit A\u0308', hash, at('a')), true);
    assert.deepEqual([old.isOutdated(hash), current.isOutdated(hash)], [false, true]);
  });

  it('with a lower cost than new ones take as much work as an unknown address [authentication.accounts.equal-work]', async () => {
    let work = 0;
    const counted = new PasswordHashes(CHEAP + 3, async (_password, _salt, _bytes, { N = 0, r = 0, p = 0 }) => {
      work += N * r * p;
      return Buffer.alloc(32);
    });
    const workOf = async (stored: string | null): Promise<number> => {
      work = 0;
      await counted.verify('wrong password', stored, at('a'));
      return work;
    };
    const old = await new PasswordHashes(CHEAP).hash('correct horse', at('a'));
    assert.equal(await workOf(old), await workOf(null));
    assert.equal(await counted.verify('correct horse', old, at('a')), false, 'the second hash decides nothing');
  });

  it('are made a few at once, and no more than a bounded number waits, also without an account [authentication.accounts.equal-work, never.unbounded]', async () => {
    const hashes = new PasswordHashes(CHEAP);
    const many = AUTH_LIMITS.passwordHashesAtOnceMax + AUTH_LIMITS.passwordHashesWaitingMax + 5;
    // Without a stored hash, as for an unknown address: each takes its turn too.
    const results = await Promise.allSettled(
      Array.from({ length: many }, (_, n) => hashes.verify('x', null, at(`${n}`))),
    );
    const refused = results.filter((one) => one.status === 'rejected');
    assert.ok(refused.length >= 5, `${refused.length}`);
    for (const one of refused) assert.equal((one.reason as Fault).code, 'unavailable');
    const done = results.filter((one) => one.status === 'fulfilled');
    assert.ok(done.length > 0 && done.every(({ value }) => !value));
  });

  it('of one network are made one after the other, so that it delays only its own', async () => {
    const begun: { readonly password: string; readonly end: () => void }[] = [];
    // Ends when the test ends it.
    const held = (password: string): Promise<Buffer> => {
      const { promise, resolve } = Promise.withResolvers<Buffer>();
      begun.push({ password, end: () => resolve(Buffer.alloc(32)) });
      return promise;
    };
    const hashes = new PasswordHashes(CHEAP, held);
    const all = Promise.all([
      ...Array.from({ length: 10 }, (_, n) => hashes.verify(`flood ${n}`, null, at('flood'))),
      hashes.verify('other', null, at('other')),
    ]);
    const begunWith = (): string[] => begun.map(({ password }) => password);
    await eventually(() => begun.length === 2);
    assert.deepEqual(begunWith(), ['flood 0', 'other']);
    for (let ended = 0; ended < 11; ended += 1) {
      await eventually(() => begun.length > ended);
      // No hash of the network begins while one of its own is made.
      const underWay = begunWith().slice(ended);
      assert.ok(underWay.filter((password) => password !== 'other').length <= 1, underWay.join());
      begun[ended]?.end();
    }
    await all;
  });
});
