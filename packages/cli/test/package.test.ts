import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { scratch } from './scratch.ts';

const PACKAGE = join(import.meta.dirname, '..');
const TARBALL_BYTES_MAX = 300_000;
const run = promisify(execFile);

describe('the packed command line, installed into an empty folder without a network', function packed() {
  const folder = scratch('package');
  const installed = join(folder, 'node_modules', '@wts', 'cli');
  let tarball = '';
  const wts = (...args: string[]): ReturnType<typeof run> =>
    run(process.execPath, [join(installed, 'wts.mjs'), ...args], { env: { WTS_CONFIG_DIR: folder }, cwd: folder });

  before(async () => {
    const built = join(folder, 'built');
    await run(process.execPath, ['build.ts', built], { cwd: PACKAGE });
    await run('npm', ['pack', built, '--pack-destination', folder]);
    rmSync(built, { recursive: true });
    tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? assert.fail('no tarball');
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${tarball}`], { cwd: folder });
  });

  it('is small, needs no other package, and has the licences of those inside', () => {
    assert.ok(statSync(join(folder, tarball)).size < TARBALL_BYTES_MAX);
    assert.deepEqual(readdirSync(join(folder, 'node_modules', '@wts')), ['cli']);
    const files = readdirSync(installed);
    for (const name of files.filter((file) => file.endsWith('.mjs')))
      for (const [, from = ''] of readFileSync(join(installed, name), 'utf8').matchAll(
        /^(?:import|export) .*from "(?!node:|[a-z]+")([^"]+)";$/gm,
      ))
        assert.ok(files.includes(from.replace('./', '')), `${name} imports ${from}`);
    const notices = readFileSync(join(installed, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    for (const name of ['commander', 'string-width']) assert.match(notices, new RegExp(`^${name} \\d`, 'm'));
    for (const name of ['LICENSE', 'README.md']) assert.ok(existsSync(join(installed, name)));
  });

  it('reads one chunk for help, so that it starts as fast as an empty program', async () => {
    const hook = `import { registerHooks } from 'node:module';
      registerHooks({ load: (url, context, next) => (console.error(url), next(url, context)) });`;
    const argv = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, join(installed, 'wts.mjs'), '--help'];
    const { stderr } = await run(process.execPath, argv, { env: { WTS_CONFIG_DIR: folder } });
    const files = stderr.split('\n').filter((url) => url.startsWith('file:'));
    // Beside it: the program itself, its entry and what the bundler adds.
    const large = files.filter((url) => statSync(fileURLToPath(url)).size > 5_000);
    assert.deepEqual([files.length, large.length], [4, 1], files.join('\n'));
  });

  it('calls no built-in of this repository that the oldest Node of its manifest lacks', () => {
    const newer =
      /\bnew (?:Async)?DisposableStack\b|\.getOrInsert(?:Computed)?\(|\b(?:Promise\.try|RegExp\.escape|Error\.isError)\(/;
    const files = readdirSync(installed).filter((file) => file.endsWith('.mjs'));
    const using = files.filter((name) => newer.test(readFileSync(join(installed, name), 'utf8')));
    assert.deepEqual(using, []);
  });

  it('has a manifest without a fault that publint knows', async () => {
    const { messages } = await publint({ pkgDir: installed, pack: false, strict: true });
    assert.deepEqual(messages, []);
  });

  it('runs, and says what is wrong by its exit code', async () => {
    const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as { version: string };
    assert.equal((await wts('--version')).stdout, `wts ${version}\n`);
    assert.match(String((await wts('task', '--help')).stdout), /^Work with tasks\./);
    await assert.rejects(wts('whoami'), { code: 4 });
  });
});
