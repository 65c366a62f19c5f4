import { doesNotMatch, equal, match } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../src/layout.ts';

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>;
};

/** Runs a script as npm does. `taken` are the options that npm keeps for itself. */
function run(script: string, args: readonly string[], taken: NodeJS.ProcessEnv = {}) {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'));
  const env = { ...Object.fromEntries(own), npm_node_execpath: process.execPath, npm_lifecycle_event: script };
  const command = `${scripts[script]} "$@"`;
  const ran = spawnSync('sh', ['-c', command, 'sh', ...args], {
    cwd: ROOT,
    env: { ...env, ...taken },
    encoding: 'utf8',
    // A script that was not refused runs, some of them until they are stopped.
    timeout: 50_000,
  });
  return { code: ran.status, text: ran.stdout + ran.stderr };
}

/** Scripts that run the command line, which has exit codes and help of its own. */
const COMMAND_LINE = ['wts', 'listen', 'admin'];

describe('the options of npm scripts', () => {
  for (const script of COMMAND_LINE) {
    it(`npm run ${script} refuses an option that it does not have, and names its help`, () => {
      const { code, text } = run(script, ['--no-such-option']);
      equal(code, 2, text);
      match(text, /^Unknown option '--no-such-option'\.\nSee wts( webhook listen| admin)? --help$/m);
    });
  }

  const others = Object.keys(scripts).filter((name) => !COMMAND_LINE.includes(name));
  let printed = new Map<string, string>();
  before(() => {
    // A script that is not refused runs, some of them until they are stopped.
    const args = [join(import.meta.dirname, 'refused-options.ts'), ...others];
    const { stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', timeout: 50_000 });
    printed = new Map(stderr.split(/^(?=--- )/m).map((part) => [/^--- (\S+)/.exec(part)?.[1] ?? '', part]));
  });

  for (const script of others) {
    const command = ['start', 'test'].includes(script) ? `npm ${script}` : `npm run ${script}`;
    it(`${command} refuses an option that it does not have, and prints those that it has`, () => {
      const text = printed.get(script) ?? '';
      doesNotMatch(text, /^package\.json runs/m);
      match(text, /Unknown option '--no-such-option'/);
      match(text, new RegExp(`^${command} \\[-- [^]*^exit code 1$`, 'm'));
    });
  }

  it('end as usual where the reader of their output has enough', () => {
    const command = `{ (${scripts['secrets']} --format env --database postgres://db/wts --nats nats://n0); echo $? >&2; } | true`;
    const env = { ...process.env, npm_node_execpath: process.execPath };
    equal(spawnSync('sh', ['-c', command], { cwd: ROOT, env, encoding: 'utf8' }).stderr, '0\n');
  });

  it('that npm takes for its own are refused with what to type', () => {
    const { code, text } = run('start', ['2'], { npm_config_sync_replicas: 'true' });
    equal(code, 1, text);
    match(text, /^  npm start -- --sync-replicas 2$/m);
    doesNotMatch(text, /Ready|Workspace Task Service/);
  });
});
