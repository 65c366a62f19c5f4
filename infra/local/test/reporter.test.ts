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
it('finds out', function () { this.skip(); });
describe('a machine that lacks something', () => {
  before(function () { this.skip(); });
  it('is excused', () => {});
});
it.skip('was switched off', () => {});
describe.skip('a chapter', () => { it('was switched off with it', () => {}); });
it('was never written');
`;

describe('what a suite tells while it runs', () => {
  it('counts as skipped what lacked something, and as failed what was written never to run', async () => {
    const file = join(scratch(), 'suite.mjs');
    writeFileSync(file, SUITE);
    const suite = fork(
      join(ROOT, 'node_modules/mocha/bin/mocha.js'),
      ['--no-config', '--reporter', join(ROOT, 'infra/local/src/testing/reporter.ts'), file],
      { silent: true },
    );
    const told: TestMessage[] = [];
    suite.on('message', (message) => told.push(message as TestMessage));
    await once(suite, 'exit');
    const titles = (type: TestMessage['type']) =>
      told.flatMap((message) => (message.type === type && 'title' in message ? [message.title] : []));
    assert.deepEqual(titles('pass'), ['passes']);
    assert.deepEqual(titles('skip'), ['finds out', 'a machine that lacks something › is excused']);
    assert.deepEqual(titles('fail').toSorted(), [
      'a chapter › was switched off with it',
      'fails',
      'was never written',
      'was switched off',
    ]);
    assert.equal(told.at(-1)?.type, 'end');
  });
});
