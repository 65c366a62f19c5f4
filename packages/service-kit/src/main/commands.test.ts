import assert from 'node:assert/strict';
import { commandOf, USAGE } from './commands.ts';

describe('the arguments of a service', () => {
  it('select what it does, and without any it serves [installation.arguments]', () => {
    for (const [words, command] of [
      ['', 'serve'],
      ['--version', 'version'],
      ['check-config', 'check-config'],
      ['healthcheck', 'ready'],
      ['healthcheck live', 'live'],
      ['migrate', 'migrate'],
      ['migrate --check', 'check-schema'],
      ['migrate --plan', 'plan-migration'],
    ] as const)
      assert.equal(commandOf(words.split(' ').filter((word) => word !== '')), command);
  });

  it('that are none of them select nothing, and the sentence names those that there are', () => {
    for (const words of [['serve'], ['migrate', '--force'], ['--help'], ['healthcheck', 'ready', 'now'], ['toString']])
      assert.equal(commandOf(words), null, words.join(' '));
    assert.match(USAGE, /--version.* check-config, healthcheck.* migrate --check, migrate --plan\. /);
  });
});
