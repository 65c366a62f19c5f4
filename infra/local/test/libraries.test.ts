import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { librariesFor } from '../bootstrap/libraries.mjs';
import { scratch } from './scratch.ts';

describe("the libraries of the project's Node", () => {
  /** A program that fails as one without its library does. */
  function programWithout(library: string): string {
    const file = join(scratch(), 'node');
    const text = `node: error while loading shared libraries: ${library}: cannot open shared object file`;
    writeFileSync(file, `#!/bin/sh\necho '${text}' >&2\nexit 127\n`);
    chmodSync(file, 0o755);
    return file;
  }

  it('are those of the system when Node runs with them', async () => {
    assert.deepEqual(await librariesFor(process.execPath, scratch()), {});
  });

  it('are searched in the downloaded package before the system', async function () {
    if (process.platform !== 'linux') return this.skip();
    const packages = scratch();
    const folder = join(packages, 'libatomic1/tree/usr/lib/some-linux-gnu');
    mkdirSync(folder, { recursive: true });
    const { LD_LIBRARY_PATH = '' } = await librariesFor(programWithout('libatomic.so.1'), packages);
    assert.equal(LD_LIBRARY_PATH.split(':')[0], folder);
  });

  it('are named in the error when their package is unknown', async function () {
    if (process.platform !== 'linux') return this.skip();
    await assert.rejects(librariesFor(programWithout('libother.so.6'), scratch()), /needs libother\.so\.6.*Install it/);
  });
});
