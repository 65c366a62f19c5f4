import { LOCAL, indented, UserError } from '@wts/local';
import { execFileSync, spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Checkout } from './checkout.ts';

/** Where they are undefined, the Dockerfile decides. */
export interface Bases {
  readonly build: string | undefined;
  readonly run: string | undefined;
}

export interface BuildTask {
  readonly service: string;
  /** With its tag. */
  readonly name: string;
  readonly checkout: Checkout;
  readonly bases: Bases;
  /** Files that the build may read and that do not stay in the image. */
  readonly secrets: { readonly npmrc: string | undefined; readonly ca: string | undefined };
  /** Without the layers of earlier builds. */
  readonly isFresh: boolean;
}

/** A program that builds images. */
export interface Builder {
  readonly name: 'buildah' | 'docker';
  build(task: BuildTask): Promise<void>;
  /** An image of files alone, from a folder with a Dockerfile. */
  buildFiles(folder: string, target: string, name: string): Promise<void>;
  /** Writes an image, as an OCI layout, into a new folder. */
  save(image: string, folder: string): Promise<void>;
}

const LOGS = join(LOCAL, 'images');
const LAST_LINES = 20;
const NONE = `There is neither buildah nor docker here. Install one: on Debian and Ubuntu "apt-get install buildah", elsewhere see
https://buildah.io or https://docs.docker.com/engine/install.`;

export function findBuilder(wanted: string | undefined): Builder {
  const builders = [buildah, docker];
  const chosen = builders.filter(({ name }) => wanted === undefined || name === wanted);
  if (chosen.length === 0) throw new UserError(`There is no builder ${wanted}; use buildah or docker.`);
  const found = chosen.find(({ name }) => isInstalled(name));
  if (found === undefined) throw new UserError(wanted === undefined ? NONE : `${wanted} is not installed.`);
  return found;
}

function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Every file gets the same time. So the same commit gives the same image, and a layer stays the same while its files do: most versions
 * change no dependency, and who has the one before gets only what differs. The time of the commit is a label.
 */
const SAME_TIMES = ['--timestamp', '0'];

/** The isolation of its own needs no more rights than the caller has; what runs in a build are npm, pnpm and tsc. */
const buildah: Builder = {
  name: 'buildah',
  build: (task) =>
    run(task.service, 'buildah', [
      'build',
      '--isolation',
      'chroot',
      '--format',
      'oci',
      '--layers',
      ...SAME_TIMES,
      ...commonArguments(task),
    ]),
  buildFiles: (folder, target, name) =>
    run(`base-${target}`, 'buildah', ['build', '--layers', ...SAME_TIMES, '--target', target, '-t', name, folder]),
  save: (image, folder) => run('save', 'buildah', ['push', image, `oci:${folder}:image`]),
};

const docker: Builder = {
  name: 'docker',
  build: (task) =>
    run(task.service, 'docker', [
      'buildx',
      'build',
      '--output',
      'type=docker,rewrite-timestamp=true',
      '--provenance=false',
      '--build-arg',
      'SOURCE_DATE_EPOCH=0',
      ...commonArguments(task),
    ]),
  buildFiles: (folder, target, name) =>
    run(`base-${target}`, 'docker', ['buildx', 'build', '--load', '--target', target, '-t', name, folder]),
  async save(image, folder) {
    mkdirSync(folder);
    await run('save', 'sh', ['-c', 'docker save "$0" | tar -x -C "$1"', image, folder]);
  },
};

function commonArguments({ service, name, checkout, bases, secrets, isFresh }: BuildTask): string[] {
  const { folder, version, commit, created } = checkout;
  const values = {
    SERVICE: service,
    VERSION: version,
    REVISION: commit,
    CREATED: created,
    ...(bases.build === undefined ? {} : { BUILD_IMAGE: bases.build }),
    ...(bases.run === undefined ? {} : { RUN_IMAGE: bases.run }),
  };
  return [
    ...Object.entries(values).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]),
    ...Object.entries(secrets).flatMap(([id, file]) =>
      file === undefined ? [] : ['--secret', `id=${id},src=${file}`],
    ),
    ...(isFresh ? ['--no-cache'] : []),
    '-f',
    join(folder, 'infra/images/Dockerfile'),
    '-t',
    name,
    folder,
  ];
}

/** Its output goes to a file, whose last lines are shown when it fails. */
async function run(log: string, program: string, args: readonly string[]): Promise<void> {
  mkdirSync(LOGS, { recursive: true });
  const file = join(LOGS, `${log}.log`);
  const output = createWriteStream(file);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) stream.pipe(output, { end: false });
  // A task that is stopped exits, and would leave it at work.
  const end = (): boolean => child.kill();
  process.once('exit', end);
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  process.off('exit', end);
  await new Promise((resolve) => output.end(resolve));
  if (code === 0) return;
  const last = readFileSync(file, 'utf8').trimEnd().split('\n').slice(-LAST_LINES).join('\n');
  throw new UserError(`${program} ${args[0]} failed. The end of ${file}:\n${indented(last)}`);
}
