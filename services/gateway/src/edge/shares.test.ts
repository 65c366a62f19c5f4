import assert from 'node:assert/strict';
import type { Fault } from '@wts/contracts';
import { Shares } from './shares.ts';

const limits = {
  requestsMax: 3,
  socketsMax: 2,
  socketsOfAllMax: 8,
  bodyBytesMax: 100,
  requestsOfNetworkMax: 5,
  bodyBytesOfNetworkMax: 150,
  bodyBytesOfAllMax: 250,
};
const isTooMany =
  (what: RegExp) =>
  (fault: Fault): boolean =>
    fault.code === 'rate_limited' && fault.retryAfterSeconds === 1 && what.test(fault.message);

describe('the shares of a gateway', () => {
  it('limit the parallel requests of each caller [limits.at-once.caller, never.unbounded]', () => {
    const shares = new Shares(limits);
    const [slot] = [shares.acquire('ann', 'a'), shares.acquire('ann', 'a'), shares.acquire('ann', 'b')];
    assert.throws(() => shares.acquire('ann', 'c'), isTooMany(/^You have too many requests/));
    shares.acquire('bob', 'a');
    slot.release();
    shares.acquire('ann', 'a');
    assert.throws(() => shares.acquire('ann', 'a'));
  });

  it('limit the parallel requests of each network [limits.at-once.caller]', () => {
    const shares = new Shares(limits);
    const slots = ['ann', 'bob', 'cid', 'dan', 'eve'].map((caller) => shares.acquire(caller, 'a'));
    assert.throws(() => shares.acquire('fay', 'a'), isTooMany(/^Your network has too many requests/));
    shares.acquire('fay', 'b');
    slots[0]?.release();
    shares.acquire('fay', 'a');
  });

  it('limit the sockets of each caller, independent of requests [limits.at-once.caller, never.unbounded]', () => {
    const shares = new Shares(limits);
    const [releaseSocket] = [shares.acquireSocket('ann', 'a'), shares.acquireSocket('ann', 'a')];
    assert.throws(() => shares.acquireSocket('ann', 'a'), isTooMany(/sockets/));
    shares.acquire('ann', 'a').release();
    shares.acquireSocket('bob', 'a');
    releaseSocket();
    shares.acquireSocket('ann', 'a');
    assert.throws(() => shares.acquireSocket('ann', 'a'));
  });

  it('leave sockets for other networks, whatever number of accounts one network has [limits.at-once.caller, never.one-takes-all]', () => {
    const shares = new Shares(limits);
    const open = (network: string): (() => void)[] => {
      const opened: (() => void)[] = [];
      for (let n = 0; n < 20; n += 1) {
        try {
          opened.push(shares.acquireSocket(`${network}${n}`, network));
        } catch (fault) {
          assert.ok(isTooMany(/^Your network has too many open sockets/)(fault as Fault));
        }
      }
      return opened;
    };
    const [first, second, third] = [open('a'), open('b'), open('c')];
    assert.deepEqual([first.length, second.length, third.length], [6, 2, 0]);
    for (const release of [...first, ...second]) release();
    assert.equal(shares.size, 0);
  });

  it('limit the bytes of bodies of a caller, of a network and of all together [limits.at-once.caller, never.unbounded]', () => {
    const shares = new Shares(limits);
    const [ann, bob, cid] = [shares.acquire('ann', 'a'), shares.acquire('bob', 'a'), shares.acquire('cid', 'b')];
    assert.equal(ann.hold(60), null);
    assert.match(ann.hold(41)?.message ?? '', /You are sending too many/);
    assert.equal(ann.hold(40), null, 'what was refused is not counted');
    assert.match(bob.hold(51)?.message ?? '', /^Your network is sending too many/);
    assert.equal(bob.hold(50), null);
    assert.equal(cid.hold(100), null);
    assert.equal(shares.acquire('dan', 'c').hold(1)?.code, 'unavailable');
    ann.release();
    assert.equal(shares.bodyBytes, 150);
    assert.equal(bob.hold(50), null);
  });

  it('use no memory for a caller without requests and sockets', () => {
    const shares = new Shares(limits);
    for (let round = 0; round < 1000; round += 1) {
      const [caller, network] = [`caller ${round}`, `network ${round}`];
      const slots = [shares.acquire(caller, network), shares.acquire(caller, network)];
      const releaseSocket = shares.acquireSocket(caller, network);
      slots[0]?.hold(7);
      slots.push(shares.acquire(caller, network));
      assert.throws(() => shares.acquire(caller, `another ${network}`));
      for (const slot of slots) slot.release();
      releaseSocket();
    }
    assert.deepEqual([shares.size, shares.bodyBytes], [0, 0]);
  });
});
