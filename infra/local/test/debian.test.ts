import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fetchDebianPackages } from '../src/servers/debian.ts';
import { scratch } from './scratch.ts';

describe('unpacked Debian packages', () => {
  it('have what their programs depend on, also what the system has, but not its libc', async function () {
    let tree: string;
    try {
      ({ root: tree } = await fetchDebianPackages(['libatomic1'], scratch()));
    } catch (error) {
      // No apt-get, or no network.
      if (/ENOENT|fetch|resolv/i.test(String(error))) return this.skip();
      throw error;
    }
    const packages = readdirSync(join(tree, 'usr/share/doc')).map((name) => name.replaceAll(/\d+/g, 'N'));
    assert.deepEqual(packages.toSorted(), ['gcc-N-base', 'libatomicN', 'libgcc-sN']);
  });
});
