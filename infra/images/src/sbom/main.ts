/** Writes sbom.cdx.json: what is in an image, as CycloneDX 1.6, from the lock file and what was installed by it. The Dockerfile runs it. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Package {
  readonly name: string;
  readonly version: string;
  readonly license?: unknown;
}

const [service = '', version = '', revision = '', base = '', created = ''] = process.argv.slice(2);
const STORE = 'node_modules/.pnpm';
/** The lock file may be as pnpm or as turbo writes it. */
const LOCKED = /^ {2}['"]?([^\s'"]+@[^\s'"]+?)['"]?:\n {4}resolution:[\s{]+integrity: ['"]?sha512-([\w+/=]+)/gm;

const hashes = hashesOf(readFileSync('pnpm-lock.yaml', 'utf8'));
const sbom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: {
    timestamp: created,
    component: {
      type: 'container',
      name: `wts-${service}`,
      version,
      properties: [{ name: 'revision', value: revision }],
    },
  },
  components: [
    { type: 'container', name: base, description: 'The base, which has a list of its own.' },
    {
      type: 'application',
      name: 'node',
      version: process.versions.node,
      purl: `pkg:generic/node@${process.versions.node}`,
    },
    ...installedPackages().map(componentOf),
  ],
};
writeFileSync('sbom.cdx.json', `${JSON.stringify(sbom, null, 1)}\n`);

/** By `name@version`: the hash of the archive, in hexadecimal. */
function hashesOf(lockFile: string): ReadonlyMap<string, string> {
  return new Map(
    [...lockFile.matchAll(LOCKED)].map(([, id = '', hash = '']) => [id, Buffer.from(hash, 'base64').toString('hex')]),
  );
}

function componentOf({ name, version: installed, license }: Package): object {
  const hash = hashes.get(`${name}@${installed}`);
  if (hash === undefined) throw new Error(`${name}@${installed} is installed, but the lock file does not have it`);
  const purl = `pkg:npm/${name.replace('@', '%40')}@${installed}`;
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version: installed,
    purl,
    hashes: [{ alg: 'SHA-512', content: hash }],
    ...(typeof license === 'string' ? { licenses: [{ expression: license }] } : {}),
  };
}

/** Each package once, by its own package.json. */
function installedPackages(): Package[] {
  const found = new Map<string, Package>();
  for (const folder of foldersIn(STORE)) {
    // Links to all packages.
    if (folder === 'node_modules') continue;
    for (const path of packagesIn(join(STORE, folder, 'node_modules'))) {
      const read = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Package;
      found.set(`${read.name}@${read.version}`, read);
    }
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

function packagesIn(modules: string): string[] {
  return foldersIn(modules).flatMap((name) =>
    name.startsWith('@')
      ? foldersIn(join(modules, name)).map((inner) => join(modules, name, inner))
      : [join(modules, name)],
  );
}

/** Without links, which point to packages that have a folder of their own, and `.bin`. */
function foldersIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name);
}
