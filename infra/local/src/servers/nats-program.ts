/** Finds nats-server. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ROOT } from '../layout.ts';
import { UserError } from '../user-error.ts';

export const NATS_VERSION_MIN = '2.10.0';

export interface NatsProgram {
  readonly file: string;
  readonly version: string;
  readonly source: string;
}

/** Older servers ignore unknown settings without an error, so the version is checked first. */
export function isOldNats(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return major < 2 || (major === 2 && minor < 10);
}

export function findNats(env: NodeJS.ProcessEnv): NatsProgram {
  const unusable: string[] = [];
  const configured = env['NATS_SERVER_BIN'];
  if (configured !== undefined && configured !== '') {
    const found = tryProgram(configured, 'NATS_SERVER_BIN');
    if (typeof found === 'string')
      throw new UserError(
        `NATS_SERVER_BIN=${configured} does not work: ${found}.\nCorrect NATS_SERVER_BIN, or unset it to use the included server.`,
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
    unusable.push(`${file}: ${found}`);
  }
  throw new UserError(
    `No nats-server ${NATS_VERSION_MIN} or newer was found for ${process.platform}-${process.arch}.\n` +
      unusable.map((line) => `  - ${line}\n`).join('') +
      'Download it from https://github.com/nats-io/nats-server/releases and put it on PATH or set NATS_SERVER_BIN,\n' +
      'or set NATS_URL to your own server with JetStream, for example nats://127.0.0.1:4222.',
  );
}

function tryProgram(file: string, source: string): NatsProgram | string {
  const run = spawnSync(file, ['--version'], { encoding: 'utf8', timeout: 10_000 });
  const version = /v?(\d+\.\d+\.\d+)/.exec(run.stdout ?? '')?.[1];
  if (run.status !== 0 || version === undefined)
    return `it does not run (${run.error?.message ?? (run.stderr.trim() || `exit code ${run.status}`)})`;
  return isOldNats(version)
    ? `it has version ${version}, but ${NATS_VERSION_MIN} or newer is needed`
    : { file, version, source };
}
