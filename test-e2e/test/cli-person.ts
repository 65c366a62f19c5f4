import { runWts, type TestRun, type TestRunOptions } from '@wts/cli/test-run';
import { scratch, type Person, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sharedSystem } from './shared-system.ts';

/** A person with a workspace of their own who uses the command line; other files expect the demo owner to be in one workspace. */
export interface CliPerson {
  readonly testSystem: TestSystem;
  readonly person: Person;
  readonly token: string;
  readonly urlKey: string;
  /** Of the keys of its tasks: `CLI-…`. */
  readonly KEY: string;
  /** A folder for their files and settings. */
  readonly folder: string;
  readonly wts: (argv: readonly string[], options?: TestRunOptions) => Promise<TestRun>;
  /** What a command that succeeds prints. */
  readonly ok: (...argv: string[]) => Promise<string>;
  /** The same at a terminal, without colors. */
  readonly shown: (...argv: string[]) => Promise<string>;
}

export async function cliPerson(name: string): Promise<CliPerson> {
  const testSystem = await sharedSystem();
  const person = await testSystem.person(name);
  const { token } = await testSystem.keyOf(person, { permissions: 'full-access' });
  const urlKey = `cli-${randomUUID().slice(0, 8)}`;
  const folder = scratch('cli');
  const own = {
    WTS_URL: testSystem.baseUrl,
    WTS_TOKEN: token,
    WTS_WORKSPACE: urlKey,
    WTS_CONFIG_DIR: folder,
    NO_COLOR: '1',
  };
  const wts: CliPerson['wts'] = (argv, options = {}) =>
    runWts(argv, { ...options, env: { ...own, ...options.env }, more: { cwd: folder, ...options.more } });
  const succeeding = async (argv: readonly string[], options: TestRunOptions): Promise<string> => {
    const { code, out, err } = await wts(argv, options);
    assert.equal(code, 0, `${argv.join(' ')}: ${out}${err}`);
    return out;
  };
  const ok: CliPerson['ok'] = (...argv) => succeeding(argv, {});
  await ok('api', 'POST', '/api/workspaces', '-F', `name=Of ${name}`, '-F', `urlKey=${urlKey}`);
  const shown: CliPerson['shown'] = (...argv) => succeeding(argv, { columns: 120 });
  return { testSystem, person, token, urlKey, KEY: urlKey.toUpperCase(), folder, wts, ok, shown };
}
