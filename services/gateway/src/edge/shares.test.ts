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
    const [place] = [shares.enter('ann', 'a'), shares.enter('ann', 'a'), shares.enter('ann', 'b')];
    assert.throws(() => shares.enter('ann', 'c'), isTooMany(/^You have too many requests/));
    shares.enter('bob', 'a');
    place.leave();
    shares.enter('ann', 'a');
    assert.throws(() => shares.enter('ann', 'a'));
  });

  it('is so many requests of one network, whoever they are [limits.at-once.caller]', () => {
    const shares = new Shares(limits);
    const places = ['ann', 'bob', 'cid', 'dan', 'eve'].map((caller) => shares.enter(caller, 'a'));
    assert.throws(() => shares.enter('fay', 'a'), isTooMany(/^Your network has too many requests/));
    shares.enter('fay', 'b');
    places[0]?.leave();
    shares.enter('fay', 'a');
  });

  it('is so many sockets, beside the requests [limits.at-once.caller, never.unbounded]', () => {
    const shares = new Shares(limits);
    const [leave] = [shares.enterSocket('ann'), shares.enterSocket('ann')];
    assert.throws(() => shares.enterSocket('ann'), isTooMany(/sockets/));
    shares.enter('ann', 'a').leave();
    shares.enterSocket('bob');
    leave();
    shares.enterSocket('ann');
    assert.throws(() => shares.enterSocket('ann'));
  });

  it('is so many bytes of bodies, for each alone, for a network and for all together [limits.at-once.caller, never.unbounded]', () => {
    const shares = new Shares(limits);
    const [ann, bob, cid] = [shares.enter('ann', 'a'), shares.enter('bob', 'a'), shares.enter('cid', 'b')];
    assert.equal(ann.hold(60), null);
    assert.match(ann.hold(41)?.message ?? '', /You are sending too many/);
    assert.equal(ann.hold(40), null, 'what was refused is not counted');
    assert.match(bob.hold(51)?.message ?? '', /^Your network is sending too many/);
    assert.equal(bob.hold(50), null);
    assert.equal(cid.hold(100), null);
    assert.equal(shares.enter('dan', 'c').hold(1)?.code, 'unavailable');
    ann.leave();
    assert.equal(shares.bodyBytes, 150);
    assert.equal(bob.hold(50), null);
  });

  it('is nothing once all their requests and sockets are over: nobody is remembered', () => {
    const shares = new Shares(limits);
    for (let round = 0; round < 1000; round += 1) {
      const [caller, network] = [`caller ${round}`, `network ${round}`];
      const places = [shares.enter(caller, network), shares.enter(caller, network)];
      const leaveSocket = shares.enterSocket(caller);
      places[0]?.hold(7);
      places.push(shares.enter(caller, network));
      assert.throws(() => shares.enter(caller, `another ${network}`));
      for (const place of places) place.leave();
      leaveSocket();
    }
    assert.deepEqual([shares.size, shares.bodyBytes], [0, 0]);
  });
});
