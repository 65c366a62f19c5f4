import assert from 'node:assert/strict';
import { repositoryTree } from '../src/tree.ts';

describe('the tree', () => {
  it('holds the same files without git, where the repository is an unpacked archive', () => {
    const known = repositoryTree().files;
    const path = process.env['PATH'];
    try {
      process.env['PATH'] = '';
      assert.deepEqual(repositoryTree().files, known);
    } finally {
      process.env['PATH'] = path;
    }
  });
});
