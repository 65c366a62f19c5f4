/** `npm run images`: an image of each service from the commit that is checked out, checked after it was built. */
import { optionsOrExit, runTask, SERVICES, UserError } from '@wts/local';
import { findBuilder, type Bases, type Builder } from './builder.ts';
import { openCheckout } from './checkout.ts';
import { checkImage, type CheckedImage } from './check-image.ts';
import { makeLocalBases } from './local-bases.ts';

const USAGE = `npm run images [-- options]

Builds an image of each service with buildah or docker from the commit that is checked out, and checks it: user, labels, no secret.

  --service NAME      only this service; may be repeated
  --tag TAG           default: the version in package.json
  --registry PREFIX   such as registry.example.com/team, for PREFIX/wts-sync and so on
  --builder NAME      buildah or docker; default: the one that is here
  --build-image NAME  base with npm, best with a digest; default: that of infra/images/Dockerfile
  --run-image NAME    base of the images, best with a digest; default: that of infra/images/Dockerfile
  --local-bases       bases of Debian packages and this Node, for a machine without a registry (needs mmdebstrap)
  --npmrc FILE        .npmrc for the registry of npm packages; it does not stay in an image
  --ca FILE           authority that the network here needs; default: NODE_EXTRA_CA_CERTS
  --cached            reuse the layers of earlier builds: quicker, and the same files, but the history in the image may be another
  --twice             build again, and fail unless the digest is the same`;

const options = optionsOrExit(USAGE, {
  service: { type: 'string', multiple: true },
  tag: { type: 'string' },
  registry: { type: 'string' },
  builder: { type: 'string' },
  'build-image': { type: 'string' },
  'run-image': { type: 'string' },
  'local-bases': { type: 'boolean', default: false },
  npmrc: { type: 'string' },
  ca: { type: 'string', default: process.env['NODE_EXTRA_CA_CERTS'] ?? '' },
  cached: { type: 'boolean', default: false },
  twice: { type: 'boolean', default: false },
});

await runTask(async (stack) => {
  const builder = findBuilder(options.builder);
  const checkout = await openCheckout(stack);
  const bases = options['local-bases'] ? await makeLocalBases(builder) : basesOf(options);
  const secrets = { npmrc: options.npmrc, ca: options.ca === '' ? undefined : options.ca };
  const tag = options.tag ?? checkout.version;
  for (const service of chosen(options.service)) {
    const name = `${options.registry === undefined ? '' : `${options.registry}/`}wts-${service}:${tag}`;
    const build = (isFresh: boolean): Promise<CheckedImage> =>
      buildAndCheck(builder, { service, name, checkout, bases, secrets, isFresh });
    const image = await build(!options.cached);
    if (options.twice) refuseDifference(name, image, await build(true));
    console.log(
      `${name}  ${(image.bytes / 1e6).toFixed(0)} MB, of which ${(image.ownBytes / 1e6).toFixed(0)} MB are not the base`,
    );
    console.log(`  ${image.digest}`);
  }
  return 0;
});

async function buildAndCheck(builder: Builder, task: Parameters<Builder['build']>[0]): Promise<CheckedImage> {
  await builder.build(task);
  return checkImage(builder, task);
}

function refuseDifference(name: string, first: CheckedImage, second: CheckedImage): void {
  if (first.digest === second.digest) return;
  throw new UserError(`${name} is not reproducible: ${first.digest}, and without a cache ${second.digest}.`);
}

function basesOf(given: { readonly 'build-image'?: string; readonly 'run-image'?: string }): Bases {
  return { build: given['build-image'], run: given['run-image'] };
}

function chosen(names: readonly string[] | undefined): string[] {
  const all = SERVICES.map(({ name }): string => name);
  const unknown = names?.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new UserError(`There is no service ${unknown}. Services: ${all.join(', ')}.`);
  return all.filter((name) => names?.includes(name) ?? true);
}
