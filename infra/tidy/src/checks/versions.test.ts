import assert from 'node:assert/strict';
import { plantedTree } from '../tree.ts';
import { oneVersion } from './versions.ts';

describe('versions', () => {
  it('are one for the repository, with an entry in the changelog', () => {
    const sound = {
      'package.json': '{"version":"0.2.0"}',
      'packages/a/package.json': '{"version":"0.2.0"}',
      'packages/b/package.json': '{}',
      'CHANGELOG.md': '# Changelog\n\n## 0.2.0\n',
    };
    assert.deepEqual(oneVersion(plantedTree(sound)), []);
    const broken = { ...sound, 'packages/a/package.json': '{"version":"1.0.0"}', 'CHANGELOG.md': '\n## 0.2.01\n' };
    assert.deepEqual(
      oneVersion(plantedTree(broken)).map(({ path }) => path),
      ['packages/a/package.json', 'CHANGELOG.md'],
    );
  });
});
