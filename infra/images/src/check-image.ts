import { UserError } from '@wts/local';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Builder, BuildTask } from './builder.ts';
import { findSecret } from './find-secret.ts';

/** Sizes are those of its files. What a registry sends is compressed, about a third. */
export interface CheckedImage {
  /** Of its configuration, which has the digests of all layers: equal digests are equal images. */
  readonly digest: string;
  readonly bytes: number;
  readonly ownBytes: number;
}

interface Config {
  readonly config: {
    readonly User?: string;
    readonly Entrypoint?: readonly string[];
    readonly Cmd?: readonly string[];
    readonly Labels?: Readonly<Record<string, string>>;
  };
}

interface Manifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string }[];
}

/** The layers that the last stage of the Dockerfile adds to its base, each with files of /app. */
const OWN = /^(?:\.\/)?app\//;
/** Of the names of all files. */
const TEXT_BYTES_MAX = 64 * 1024 * 1024;
const LABELS = ['title', 'version', 'revision', 'created', 'licenses', 'base.name'];

/** Reads the image that was built, its layers one by one, because a file that a later layer hides is in the image too. */
export async function checkImage(builder: Builder, { name, service, checkout }: BuildTask): Promise<CheckedImage> {
  const work = mkdtempSync(join(tmpdir(), 'wts-image-'));
  try {
    const layout = join(work, 'layout');
    await builder.save(name, layout);
    const blob = (digest: string): string => join(layout, 'blobs', digest.replace(':', '/'));
    const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
    const index = read(join(layout, 'index.json')) as { manifests: readonly { digest: string }[] };
    const manifest = read(blob(index.manifests[0]?.digest ?? '')) as Manifest;
    const configText = readFileSync(blob(manifest.config.digest), 'utf8');
    const faults = faultsOfConfig((JSON.parse(configText) as Config).config, checkout.commit);
    const secret = findSecret(configText);
    if (secret !== null) faults.push(`its configuration has ${secret}`);
    let bytes = 0;
    let ownBytes = 0;
    for (const { digest } of manifest.layers) {
      const layer = layerOf(blob(digest));
      bytes += layer.bytes;
      if (!layer.isOwn) continue;
      ownBytes += layer.bytes;
      faults.push(...faultsOfLayer(blob(digest), join(work, digest.slice(-12))));
    }
    if (faults.length > 0)
      throw new UserError(`${name} (${service}) is refused:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    return { digest: manifest.config.digest, bytes, ownBytes };
  } finally {
    rmSync(work, { recursive: true });
  }
}

function faultsOfConfig({ User, Entrypoint = [], Cmd = [], Labels = {} }: Config['config'], commit: string): string[] {
  const missing = LABELS.filter((label) => (Labels[`org.opencontainers.image.${label}`] ?? '') === '');
  return [
    ...(User === '65532:65532' ? [] : [`its user is ${User}, not 65532:65532`]),
    ...(`${Entrypoint.join(' ')} ${Cmd.join(' ')}`.trim() === 'node src/main.js'
      ? []
      : ['it does not start src/main.js']),
    ...missing.map((label) => `it has no label ${label}`),
    ...(Labels['org.opencontainers.image.revision'] === commit ? [] : ['its revision is another one']),
  ];
}

function layerOf(archive: string): { readonly bytes: number; readonly isOwn: boolean } {
  const list = execFileSync('tar', ['--numeric-owner', '-tvf', archive], {
    encoding: 'utf8',
    maxBuffer: TEXT_BYTES_MAX,
  });
  const files = [...list.matchAll(/^\S+ \S+ +(\d+) \S+ \S+ (.*)$/gm)];
  return {
    bytes: files.reduce((sum, [, size]) => sum + Number(size), 0),
    isOwn: files.some(([, , path = '']) => OWN.test(path)),
  };
}

function faultsOfLayer(layer: string, folder: string): string[] {
  mkdirSync(folder);
  execFileSync('tar', ['-xf', layer, '-C', folder, '--no-same-owner']);
  // Without links, which point to files that are read by themselves.
  const files = execFileSync('find', ['.', '-type', 'f'], { cwd: folder, encoding: 'utf8', maxBuffer: TEXT_BYTES_MAX });
  return files
    .split('\n')
    .filter((path) => path !== '')
    .flatMap((path) => {
      if (path.endsWith('.ts') && !path.includes('node_modules')) return [`${path} is not compiled`];
      const secret = findSecret(readFileSync(join(folder, path), 'latin1'));
      return secret === null ? [] : [`${path} has ${secret}`];
    });
}
