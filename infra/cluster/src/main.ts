/** `npm run cluster`: a cluster of containers on this machine, from the images and the chart; see README.md. */
import { makeSecrets, optionsOrExit, printWithClock as print, runTask, UserError } from '@wts/local';
import { Cluster } from './cluster.ts';
import { imagesOfCommit, requireImages, rolesOf } from './images.ts';
import { isInside, lockMachine, removeAll, removeNamespace, runInside } from './network.ts';
import { LABEL, podman, requireMachine } from './podman.ts';
import { runCells } from './cells/run.ts';
import { SECOND } from './place.ts';
import { FIRST_CELL, render, requireHelm, SECOND_CELL } from './render.ts';
import { secondSecrets, secretsForCells } from './secrets.ts';
import { soakCluster } from './soak.ts';
import { upgradeCluster } from './upgrade.ts';

const USAGE = `npm run cluster [-- command] [-- options]

  (none)          starts a cluster, checks it under one fault a minute, and ends it
  upgrade         restarts each service, upgrades each from the images --from to --tag and back, under load
  cells           two cells: one is killed while the other is measured, and a workspace is moved
  up              starts a cluster and keeps it until Ctrl-C
  status          lists the containers
  down            removes what is left of a cluster that was killed

  --minutes N     length of the faults, default 20
  --tag TAG       of the images; default: those of the commit, which are built when one is missing
  --local-bases   builds them without a registry
  --from TAG      of the images of the version before, for upgrade`;

/** Of this program, to run it again inside. */
const ARGUMENTS = process.argv.slice(1);
const COMMANDS = ['upgrade', 'cells', 'up', 'status', 'down'] as const;
const command = COMMANDS.find((one) => process.argv[2] === one) ?? 'run';
if (command !== 'run') process.argv.splice(2, 1);
const options = optionsOrExit(USAGE, {
  minutes: { type: 'string', default: '20' },
  tag: { type: 'string', default: '' },
  from: { type: 'string', default: '' },
  'local-bases': { type: 'boolean', default: false },
});

if (isInside()) await runTask((stack, life) => inside(stack, life.stopping));
else await runTask(outside);

/** Builds the images, which needs the network of the machine, and then goes into a network of its own. */
async function outside(stack: AsyncDisposableStack): Promise<number> {
  requireMachine();
  if (command === 'status') {
    const format = '{{.Names}}\t{{.Status}}\t{{.Image}}';
    console.log(await podman('ps', '--all', '--filter', `label=${LABEL}`, '--format', format));
    return 0;
  }
  stack.use(await lockMachine());
  if (command === 'down') {
    await removeAll();
    removeNamespace();
    return 0;
  }
  requireHelm();
  const { from, tag: wanted, 'local-bases': isLocal } = options;
  if (command === 'upgrade' && from === '') throw new UserError('upgrade needs --from, the tag of the images before.');
  const tag = wanted === '' ? await imagesOfCommit(isLocal) : wanted;
  for (const one of command === 'upgrade' ? [from, tag] : [tag]) await requireImages(one);
  stack.defer(async () => {
    await removeAll();
    removeNamespace();
  });
  // Of the options that are there twice, the last one is in force.
  return stack.use(await runInside([...ARGUMENTS, '--tag', tag])).exited;
}

async function inside(stack: AsyncDisposableStack, stopping: AbortSignal): Promise<number | 'until stopped'> {
  requireMachine();
  const helm = requireHelm();
  const { tag, from } = options;
  if (command === 'cells') return (await twoCells(stack, { helm, tag, print, stop: stopping })) ? 0 : 1;
  const first = command === 'upgrade' ? from : tag;
  const cluster = stack.use(
    await Cluster.start({
      image: `localhost/wts-sync:${first}`,
      render: () => render(helm, first),
      print,
      roles: first === tag ? undefined : rolesOf(first),
    }),
  );
  const { baseUrl, apiKey } = cluster.system();
  if (command === 'run') {
    const lastsMs = Number(options.minutes) * 60_000;
    return (await soakCluster(cluster, { lastsMs, print, stop: stopping })) ? 0 : 1;
  }
  if (command === 'upgrade')
    return (await upgradeCluster(cluster, { manifest: await render(helm, tag), print, stop: stopping })) ? 0 : 1;
  print(`${baseUrl} with the API key ${apiKey}, in the network of: nsenter --net=/run/netns/wts-cluster`);
  return 'until stopped';
}

async function twoCells(
  stack: AsyncDisposableStack,
  { helm, tag, print, stop }: { helm: string; tag: string; print: (line: string) => void; stop: AbortSignal },
): Promise<boolean> {
  const image = `localhost/wts-sync:${tag}`;
  const secrets = makeSecrets();
  const others = secondSecrets(secrets);
  const first = stack.use(
    await Cluster.start({
      image,
      print,
      secrets,
      moreSecrets: secretsForCells(secrets, others),
      hasAuthDatabase: true,
      render: () => render(helm, tag, FIRST_CELL),
    }),
  );
  const cell = { place: SECOND, first };
  const second = stack.use(
    await Cluster.start({ image, print, secrets: others, cell, render: () => render(helm, tag, SECOND_CELL) }),
  );
  return runCells(first, second, { print, stop });
}
