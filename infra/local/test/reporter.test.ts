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

describe('the reporter of a suite', () => {
  it('counts tests that skip themselves as skipped, and tests that never run as failed', async () => {
    const file = join(scratch(), 'suite.mjs');
    writeFileSync(file, SUITE);
    const suite = fork(
      join(ROOT, 'node_modules/mocha/bin/mocha.js'),
      ['--no-config', '--reporter', join(ROOT, 'infra/local/src/testing/reporter.ts'), file],
      { silent: true },
    );
    const messages: TestMessage[] = [];
    suite.on('message', (message) => messages.push(message as TestMessage));
    await once(suite, 'exit');
    const titles = (type: TestMessage['type']) =>
      messages.flatMap((message) => (message.type === type && 'title' in message ? [message.title] : []));
    assert.deepEqual(titles('pass'), ['passes']);
    assert.deepEqual(titles('skip'), ['skips itself', 'a machine that lacks something › is skipped']);
    assert.deepEqual(titles('fail').toSorted(), [
      'a chapter › was switched off with it',
      'fails',
      'was never written',
      'was switched off',
    ]);
    assert.equal(messages.at(-1)?.type, 'end');
  });
});
