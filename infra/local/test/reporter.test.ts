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

const SHARED = `
export let opened = 0;
export const open = () => (opened += 1);
after(() => process.send({ type: 'skip', title: 'closed ' + opened }));
`;
const USER = `
import { open } from './shared.mjs';
it('uses it', () => void open());
`;

/** Runs the files in a worker and resolves to its messages. */
async function run(...files: readonly string[]): Promise<TestMessage[]> {
  const worker = fork(join(ROOT, 'infra/local/src/testing/worker.ts'), { silent: true });
  const queue = [...files, null];
  const messages: TestMessage[] = [];
  worker.on('message', (message) => {
    messages.push(message as TestMessage);
    if (messages.at(-1)?.type === 'end') worker.send({ file: queue.shift() });
  });
  await once(worker, 'exit');
  return messages;
}

describe('a worker of a suite', () => {
  it('keeps modules between files, and closes them after the last', async () => {
    const directory = scratch();
    const files = ['one.mjs', 'two.mjs'].map((name) => join(directory, name));
    writeFileSync(join(directory, 'shared.mjs'), SHARED);
    for (const file of files) writeFileSync(file, USER);
    const messages = await run(...files);
    assert.deepEqual(
      messages.flatMap((message) => ('title' in message ? [message.title] : [])),
      ['uses it', 'uses it', 'closed 2'],
    );
  });

  it('counts tests that skip themselves as skipped, and tests that never run and files that cannot be loaded as failed', async () => {
    const directory = scratch();
    const [file, missing] = [join(directory, 'suite.mjs'), join(directory, 'does-not-exist.mjs')];
    writeFileSync(file, SUITE);
    const messages = await run(file, missing);
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
