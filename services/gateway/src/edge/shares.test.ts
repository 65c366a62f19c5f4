import assert from 'node:assert/strict';
import type { Fault } from '@wts/contracts';
import { Shares } from './shares.ts';

const limits = {
  requestsMax: 3,
  socketsMax: 2,
  bodyBytesMax: 100,
  requestsOfNetworkMax: 5,
  bodyBytesOfNetworkMax: 150,
  bodyBytesOfAllMax: 250,
};
const isTooMany =
  (what: RegExp) =>
  (fault: Fault): boolean =>
    fault.code === 'rate_limited' && fault.retryAfterSeconds === 1 && what.test(fault.message);

describe('what callers hold of a gateway', () => {
  it('is so many requests at a time and no more, for each of them alone [limits.at-once.caller, never.unbounded]', () => {
    const shares = new Shares(limits);
    const [place] = [shares.acquire('ann', 'a'), shares.acquire('ann', 'a'), shares.acquire('ann', 'b')];
    assert.throws(() => shares.acquire('ann', 'c'), isTooMany(/^You have too many requests/));
    shares.acquire('bob', 'a');
    place.release();
    shares.acquire('ann', 'a');
    assert.throws(() => shares.acquire('ann', 'a'));
  });

  it('is so many requests of one network, whoever they are [limits.at-once.caller]', () => {
    const shares = new Shares(limits);
    const places = ['ann', 'bob', 'cid', 'dan', 'eve'].map((caller) => shares.acquire(caller, 'a'));
    assert.throws(() => shares.acquire('fay', 'a'), isTooMany(/^Your network has too many requests/));
    shares.acquire('fay', 'b');
    places[0]?.release();
    shares.acquire('fay', 'a');
  });

  it('is so many sockets, beside the requests [limits.at-once.caller, never.unbounded]', () => {
    const shares = new Shares(limits);
    const [leave] = [shares.acquireSocket('ann'), shares.acquireSocket('ann')];
    assert.throws(() => shares.acquireSocket('ann'), isTooMany(/sockets/));
    shares.acquire('ann', 'a').release();
    shares.acquireSocket('bob');
    leave();
    shares.acquireSocket('ann');
    assert.throws(() => shares.acquireSocket('ann'));
  });

  it('is so many bytes of bodies, for each alone, for a network and for all together [limits.at-once.caller, never.unbounded]', () => {
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

  it('is nothing once all their requests and sockets are over: nobody is remembered', () => {
    const shares = new Shares(limits);
    for (let round = 0; round < 1000; round += 1) {
      const [caller, network] = [`caller ${round}`, `network ${round}`];
      const places = [shares.acquire(caller, network), shares.acquire(caller, network)];
      const leaveSocket = shares.acquireSocket(caller);
      places[0]?.hold(7);
      places.push(shares.acquire(caller, network));
      assert.throws(() => shares.acquire(caller, `another ${network}`));
      for (const place of places) place.release();
      leaveSocket();
    }
    assert.deepEqual([shares.size, shares.bodyBytes], [0, 0]);
  });
});
