import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../src/layout.ts';
import type { TestMessage } from '../src/testing/reporter.ts';
import { scratch } from './scratch.ts';

const SUITE = `
it('passes', () => {});
it('fails', () => { throw new Error('on purpose'); });
it('skips itself', function () { this.skip(); });
describe('a machine that lacks something', () => {
  before(function () { this.skip(); });
  it('is skipped', () => {});
});
it.skip('was switched off', () => {});
describe.skip('a chapter', () => { it('was switched off with it', () => {}); });
it('was never written');
`;

describe('a worker of a suite', () => {
  it('counts tests that skip themselves as skipped, and tests that never run and files that cannot be loaded as failed', async () => {
    const directory = scratch();
    const [file, missing] = [join(directory, 'suite.mjs'), join(directory, 'does-not-exist.mjs')];
    writeFileSync(file, SUITE);
    const worker = fork(join(ROOT, 'infra/local/src/testing/worker.ts'), { silent: true });
    const files = [file, missing, null];
    const messages: TestMessage[] = [];
    worker.on('message', (message) => {
      messages.push(message as TestMessage);
      if (messages.at(-1)?.type === 'end') worker.send({ file: files.shift() });
    });
    await once(worker, 'exit');
    const titles = (type: TestMessage['type']) =>
      messages.flatMap((message) => (message.type === type && 'title' in message ? [message.title] : []));
    assert.deepEqual(titles('pass'), ['passes']);
    assert.deepEqual(titles('skip'), ['skips itself', 'a machine that lacks something › is skipped']);
    assert.deepEqual(titles('fail').toSorted(), [
      missing,
      'a chapter › was switched off with it',
      'fails',
      'was never written',
      'was switched off',
    ]);
  });
});
