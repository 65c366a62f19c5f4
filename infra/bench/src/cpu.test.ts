import assert from 'node:assert/strict';
import { OtherProcesses, parseMachine, parseProcess, sumOfTree } from './cpu.ts';

describe('the CPU share of other processes', () => {
  it('counts stolen time as busy, and waiting for a disk as idle', () => {
    assert.deepEqual(parseMachine('cpu  10 1 5 100 7 2 3 4 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n'), {
      busyMs: 250,
      allMs: 1320,
    });
  });

  it('is read from processes with any name', () => {
    const fields = ['S', 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 3, 20, 5, 20, 0];
    assert.deepEqual(parseProcess(`42 (a ) (b) R 1) ${fields.join(' ')}`), {
      pid: 42,
      parent: 7,
      cpuMs: 400,
      ownMs: 150,
    });
  });

  it('sums a process and all its descendants, and no other process', () => {
    const of = (pid: number, parent: number, cpuMs: number) => ({ pid, parent, cpuMs, ownMs: cpuMs });
    const processes = [of(1, 0, 1000), of(5, 1, 10), of(6, 5, 20), of(7, 6, 40), of(8, 1, 5000)];
    assert.equal(sumOfTree(processes, 5), 70);
  });

  it('does not count this process', function () {
    const others = new OtherProcesses();
    const until = performance.now() + 300;
    while (performance.now() < until);
    const share = others.share();
    if (share === null) this.skip();

    assert.ok(share <= 1 && share >= 0);
  });
});
