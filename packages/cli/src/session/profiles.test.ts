import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { scratch } from '../../test/scratch.ts';
import { readConfig } from './config-file.ts';
import { useProfile } from './profiles.ts';

const urlOf = (file: string): string => JSON.stringify(pathToFileURL(join(import.meta.dirname, file)).href);
const ROUNDS = 20;

describe('the settings', () => {
  const folder = scratch('settings');
  const io = { env: { WTS_CONFIG_DIR: folder }, platform: process.platform };

  it('keep what each of two processes writes at the same time [cli.settings.kept]', async () => {
    const program = (name: string): string => `
      import { withConfigLock } from ${urlOf('config-lock.ts')};
      import { saveProfile } from ${urlOf('profiles.ts')};
      const io = ${JSON.stringify(io)};
      for (let round = 0; round < ${ROUNDS}; round += 1)
        await withConfigLock(io, () => saveProfile(io, '${name}' + round, { url: 'http://127.0.0.1' }));`;
    const ended = ['one', 'two'].map((name) =>
      once(spawn(process.execPath, ['--input-type=module', '--eval', program(name)], { stdio: 'inherit' }), 'exit'),
    );
    assert.deepEqual(await Promise.all(ended), [
      [0, null],
      [0, null],
    ]);
    assert.equal(Object.keys((await readConfig(io)).profiles).length, 2 * ROUNDS);
  });

  it('can be changed after a process was killed while it changed them', async () => {
    const killed = spawn(process.execPath, ['--eval', '']);
    await once(killed, 'exit');
    writeFileSync(join(folder, 'config.json.lock'), String(killed.pid));
    await useProfile(io, 'one0');
    assert.equal((await readConfig(io)).profile, 'one0');
    assert.deepEqual(readdirSync(folder), ['config.json']);
  });
});
