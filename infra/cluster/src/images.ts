import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { LOCAL, SERVICES, UserError } from '@wts/local';
import { podman } from './podman.ts';

const ROOT = dirname(LOCAL);

/** The tag of the images of the commit that is checked out. They are built when one is missing. */
export async function imagesOfCommit(isLocal: boolean): Promise<string> {
  const tag = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();
  if ((await missingImage(tag)) === null) return tag;
  // With its registry, because that is how podman names an image without one.
  const args = [join(ROOT, 'infra/images/src/main.ts'), '--tag', tag, '--registry', 'localhost', '--cached'];
  const child = spawn(process.execPath, [...args, ...(isLocal ? ['--local-bases'] : [])], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new UserError('The images could not be built, see above.');
  return tag;
}

/** The roles of PostgreSQL of a version, when its tag is that of its commit. */
export function rolesOf(tag: string): string | undefined {
  const { status, stdout } = spawnSync('git', ['show', `${tag}:infra/postgres/roles.sql`], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return status === 0 ? stdout : undefined;
}

export async function requireImages(tag: string): Promise<void> {
  const missing = await missingImage(tag);
  if (missing !== null)
    throw new UserError(
      `There is no image ${missing}. Build it with npm run images -- --registry localhost --tag ${tag}.`,
    );
}

async function missingImage(tag: string): Promise<string | null> {
  for (const { name } of SERVICES) {
    const image = `localhost/wts-${name}:${tag}`;
    const isThere = await podman('image', 'exists', image).then(
      () => true,
      () => false,
    );
    if (!isThere) return image;
  }
  return null;
}
