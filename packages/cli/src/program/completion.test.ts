import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from '../../test/scratch.ts';
import { runWts } from '../../test/test-run.ts';

const MAIN = join(import.meta.dirname, '../main.ts');

describe('completion', () => {
  const home = scratch('completion');
  const env = { HOME: home, SHELL: '/bin/bash' };

  /** The candidates for the last word. */
  const complete = async (...words: string[]): Promise<string[]> => {
    const { code, out, err } = await runWts(['__complete', '--', ...words], { env });
    assert.deepEqual([code, err], [0, '']);
    return out.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0] ?? '']));
  };

  it('knows commands, options, values of options and fields', async () => {
    assert.deepEqual(await complete('ta'), ['task']);
    assert.deepEqual(await complete('task', 're'), ['reopen', 'restore', 'repeat']);
    assert.deepEqual(await complete('task', 'list', '--due-'), ['--due-from', '--due-to']);
    assert.deepEqual(await complete('task', 'list', '--state', ''), ['open', 'done', 'archived', 'any']);
    assert.deepEqual(await complete('task', 'list', '--due-to', 'to'), ['today', 'tomorrow']);
    assert.deepEqual(await complete('task', 'list', '--json', 'id,tit'), ['id,title']);
    assert.deepEqual(await complete('help', 'exi'), ['exit-codes']);
    assert.deepEqual(await complete('completion', 'f'), ['fish']);
    assert.ok(!(await complete('')).includes('__complete'));
  });

  it('is silent where it knows nothing, such as without a login', async () => {
    for (const words of [
      ['no', 'such'],
      ['task', 'done', ''],
      ['task', 'list', '-p', 'x'],
      ['task', 'lsit', ''],
    ])
      assert.deepEqual(await complete(...words), []);
  });

  it('is installed once, with a line in the settings of the shell', async () => {
    for (let time = 0; time < 2; time += 1)
      assert.equal((await runWts(['completion', 'install', '--yes'], { env })).code, 0);
    const settings = readFileSync(join(home, '.bashrc'), 'utf8');
    assert.equal(settings.split('\n').length, 2);
    const program = `wts() { '${process.execPath}' '${MAIN}' "$@"; }\n. ~/.bashrc\nCOMP_WORDS=(wts task tr)\nCOMP_CWORD=2\n_wts\necho "\${COMPREPLY[@]}"`;
    const out = execFileSync('bash', ['-c', program], { env: { ...env, PATH: process.env['PATH'] }, encoding: 'utf8' });
    assert.equal(out, 'trash\n');
    assert.equal((await runWts(['completion', 'install', 'fish'], { env })).code, 2);
    assert.equal((await runWts(['completion', 'install'], { env: { HOME: home, SHELL: '/bin/ksh' } })).code, 2);
  });
});
