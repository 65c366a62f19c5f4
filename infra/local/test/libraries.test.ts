import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { librariesFor } from '../bootstrap/libraries.mjs';
import { scratch } from './scratch.ts';

describe("the libraries of the project's Node", () => {
  /** A program that ends as one does whose library is not there. */
  function lacking(library: string): string {
    const file = join(scratch(), 'node');
    const text = `node: error while loading shared libraries: ${library}: cannot open shared object file`;
    writeFileSync(file, `#!/bin/sh\necho '${text}' >&2\nexit 127\n`);
    chmodSync(file, 0o755);
    return file;
  }

  it('are those of the system where it runs', async () => {
    assert.deepEqual(await librariesFor(process.execPath, scratch()), {});
  });

  it('are searched for in the package that was fetched, before those of the system', async function () {
    if (process.platform !== 'linux') return this.skip();
    const packages = scratch();
    const folder = join(packages, 'libatomic1/tree/usr/lib/some-linux-gnu');
    mkdirSync(folder, { recursive: true });
    const { LD_LIBRARY_PATH = '' } = await librariesFor(lacking('libatomic.so.1'), packages);
    assert.equal(LD_LIBRARY_PATH.split(':')[0], folder);
  });

  it('are asked for by name where nothing is known of them', async function () {
    if (process.platform !== 'linux') return this.skip();
    await assert.rejects(librariesFor(lacking('libother.so.6'), scratch()), /needs libother\.so\.6.*install it/);
  });
});
