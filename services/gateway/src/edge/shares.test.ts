import assert from 'node:assert/strict';
import type { Fault } from '@wts/contracts';
import { Shares } from './shares.ts';

const limits = { requestsMax: 3, socketsMax: 2, bodyBytesMax: 100, bodyBytesOfAllMax: 250 };

describe('what callers hold of a gateway', () => {
  it('is so many requests at a time and no more, for each of them alone [limits.at-once.caller, never.unbounded]', () => {
    const shares = new Shares(limits);
    for (let count = 0; count < 3; count += 1) shares.enter('ann');
    assert.throws(
      () => shares.enter('ann'),
      (fault: Fault) => fault.code === 'rate_limited' && fault.retryAfterSeconds === 1,
    );
    shares.enter('bob');
    shares.leave('ann', 0);
    shares.enter('ann');
    assert.throws(() => shares.enter('ann'));
  });

  it('is so many sockets, beside the requests [limits.at-once.caller, never.unbounded]', () => {
    const shares = new Shares(limits);
    const [leave] = [shares.enterSocket('ann'), shares.enterSocket('ann')];
    assert.throws(
      () => shares.enterSocket('ann'),
      (fault: Fault) => fault.code === 'rate_limited' && /sockets/.test(fault.message),
    );
    shares.enter('ann');
    shares.leave('ann', 0);
    shares.enterSocket('bob');
    leave();
    shares.enterSocket('ann');
    assert.throws(() => shares.enterSocket('ann'));
  });

  it('is so many bytes of bodies, for each alone and for all together [limits.at-once.caller, never.unbounded]', () => {
    const shares = new Shares(limits);
    for (const caller of ['ann', 'bob', 'cid']) shares.enter(caller);
    assert.equal(shares.hold('ann', 60), null);
    assert.equal(shares.hold('ann', 41)?.code, 'rate_limited');
    assert.equal(shares.hold('ann', 40), null, 'what was refused is not counted');
    assert.equal(shares.hold('bob', 100), null);
    assert.equal(shares.hold('cid', 51)?.code, 'unavailable');
    assert.equal(shares.hold('cid', 50), null);
    shares.leave('ann', 100);
    assert.equal(shares.bodyBytes, 150);
    assert.equal(shares.hold('cid', 50), null);
  });

  it('is nothing once all their requests and sockets are over: nobody is remembered', () => {
    const shares = new Shares(limits);
    for (let round = 0; round < 1000; round += 1) {
      const caller = `caller ${round}`;
      shares.enter(caller);
      shares.enter(caller);
      const leaveSocket = shares.enterSocket(caller);
      shares.hold(caller, 7);
      shares.leave(caller, 7);
      shares.leave(caller, 0);
      leaveSocket();
    }
    assert.deepEqual([shares.callers, shares.bodyBytes], [0, 0]);
  });
});
