/** Where nats-server comes from, in order of preference. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ROOT } from '../layout.ts';
import { Refusal } from '../refusal.ts';

export const NATS_VERSION_MIN = '2.10.0';

export interface NatsProgram {
  readonly file: string;
  readonly version: string;
  readonly source: string;
}

/** Older servers drop settings they do not know without a word, so age is judged before anything relies on them. */
export function isOldNats(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return major < 2 || (major === 2 && minor < 10);
}

export function findNats(env: NodeJS.ProcessEnv): NatsProgram {
  const refused: string[] = [];
  const asked = env['NATS_SERVER_BIN'];
  if (asked !== undefined && asked !== '') {
    const found = tryProgram(asked, 'NATS_SERVER_BIN');
    if (typeof found === 'string')
      throw new Refusal(
        `NATS_SERVER_BIN=${asked} does not work: ${found}.\nUnset it to use the server that comes with the dependencies.`,
      );
    return found;
  }
  const packaged = join(
    ROOT,
    'infra/local/node_modules/@eplightning',
    `nats-server-${process.platform}-${process.arch}`,
    'bin/nats-server',
  );
  const onPath = (env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, 'nats-server'));
  for (const [file, source] of [
    [packaged, 'its npm package'] as const,
    ...onPath.map((path) => [path, 'PATH'] as const),
  ]) {
    if (!existsSync(file)) continue;
    const found = tryProgram(file, source);
    if (typeof found !== 'string') return found;
    refused.push(`${file}: ${found}`);
  }
  throw new Refusal(
    `No nats-server ${NATS_VERSION_MIN} or newer was found for ${process.platform}-${process.arch}.\n` +
      refused.map((line) => `  - ${line}\n`).join('') +
      'Get it from https://github.com/nats-io/nats-server/releases and put it on PATH or name it in NATS_SERVER_BIN,\n' +
      'or set NATS_URL to a server of your own with JetStream, for example nats://127.0.0.1:4222.',
  );
}

function tryProgram(file: string, source: string): NatsProgram | string {
  const run = spawnSync(file, ['--version'], { encoding: 'utf8', timeout: 10_000 });
  const version = /v?(\d+\.\d+\.\d+)/.exec(run.stdout ?? '')?.[1];
  if (run.status !== 0 || version === undefined)
    return `it does not run (${run.error?.message ?? (run.stderr.trim() || `exit code ${run.status}`)})`;
  return isOldNats(version)
    ? `it is version ${version}, and ${NATS_VERSION_MIN} or newer is needed`
    : { file, version, source };
}
