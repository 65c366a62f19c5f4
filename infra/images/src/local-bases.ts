import { LOCAL, UserError } from '@wts/local';
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bases, Builder } from './builder.ts';

/** The one that Node 26 brings. */
const NPM_VERSION = '11.19.1';
const SUITE = 'bookworm';
/** What Node needs besides libc. */
const LIBRARIES = ['libstdc++6', 'libatomic1', 'tzdata'];
const LEFT_OUT = ['doc', 'man', 'locale'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
const FOLDER = join(LOCAL, 'images', 'bases');
const USERS = `root:x:0:0:root:/root:/sbin/nologin
nonroot:x:65532:65532:nonroot:/nonexistent:/sbin/nologin
`;

/**
 * Bases that stand in for node:26-slim and distroless where no registry can be reached: packages of Debian, and the Node that runs this.
 * They show that the Dockerfile works, and are no images to publish.
 */
export async function makeLocalBases(builder: Builder): Promise<Bases> {
  mkdirSync(FOLDER, { recursive: true });
  copyFileSync(join(import.meta.dirname, '../local-bases/Dockerfile'), join(FOLDER, 'Dockerfile'));
  const node = join(FOLDER, 'node');
  addNode(node);
  const buildFiles = join(FOLDER, 'npm');
  addNode(buildFiles);
  addNpm(buildFiles);
  writeFileSync(join(node, 'etc/passwd'), USERS);
  debian('build', ['--variant=essential', `--include=${['ca-certificates', ...LIBRARIES].join(',')}`]);
  debian('run', [
    '--variant=extract',
    `--include=${['base-files', 'netbase', 'libc6', 'libgcc-s1', ...LIBRARIES].join(',')}`,
  ]);
  const bases = { build: 'localhost/wts-base-build:local', run: 'localhost/wts-base-run:local' };
  for (const target of ['build', 'run'] as const) await builder.buildFiles(FOLDER, target, bases[target]);
  return bases;
}

/** Made once, because it takes a minute. */
function debian(name: string, options: readonly string[]): void {
  const tar = join(FOLDER, `${name}.tar`);
  if (existsSync(tar)) return;
  try {
    // The time of all files, so that the same packages give the same base.
    const env = { ...process.env, SOURCE_DATE_EPOCH: '0' };
    execFileSync('mmdebstrap', [...options, ...LEFT_OUT, SUITE, tar], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (cause) {
    rmSync(tar, { force: true });
    const { code, stderr } = cause as { code?: string; stderr?: Buffer };
    const why = code === 'ENOENT' ? 'it is not installed ("apt-get install mmdebstrap")' : String(stderr);
    throw new UserError(`mmdebstrap, which makes the base "${name}", failed: ${why}`, { cause });
  }
}

function addNode(folder: string): void {
  mkdirSync(join(folder, 'usr/local/bin'), { recursive: true });
  mkdirSync(join(folder, 'etc'), { recursive: true });
  copyFileSync(process.execPath, join(folder, 'usr/local/bin/node'));
  chmodSync(join(folder, 'usr/local/bin/node'), 0o755);
}

function addNpm(folder: string): void {
  const modules = join(folder, 'usr/local/lib/node_modules');
  if (existsSync(modules)) return;
  const packed = join(FOLDER, 'packed');
  mkdirSync(packed, { recursive: true });
  execFileSync('npm', ['pack', '--silent', '--pack-destination', packed, `npm@${NPM_VERSION}`]);
  execFileSync('tar', ['-xzf', join(packed, `npm-${NPM_VERSION}.tgz`), '-C', packed]);
  cpSync(join(packed, 'package'), join(modules, 'npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'usr/local/bin/npm'));
}
