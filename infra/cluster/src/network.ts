/**
 * The network of a cluster: a network namespace of the kernel, in which everything runs, this process too. So no port and no
 * rule of the machine is touched, and what remains after a kill is removed with the namespace.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { UserError } from '@wts/local';
import { podman, run, LABEL } from './podman.ts';

const NAMESPACE = 'wts-cluster';
const FILE = `/run/netns/${NAMESPACE}`;
const INSIDE = 'WTS_CLUSTER_INSIDE';
export const NETWORK = 'wts-cluster';
const SUBNET = '10.89.77';
/** The address of this process, where the entrance, the names and the consumers of webhooks are. */
export const OWN_ADDRESS = `${SUBNET}.1`;

/** An address of a container, by its number. */
export function address(number: number): string {
  return `${SUBNET}.${number}`;
}

/** Refuses a second cluster, which would remove the containers of the first. Linux frees the name when this process ends. */
export async function lockMachine(): Promise<AsyncDisposable> {
  const lock = createServer().listen('\0wts-cluster');
  await once(lock, 'listening').catch((cause: unknown) => {
    throw new UserError('Another npm run cluster runs on this machine. Wait for its end, or end it.', { cause });
  });
  return lock;
}

export function isInside(): boolean {
  return process.env[INSIDE] === '1';
}

/** Runs this program again in the namespace; disposing waits for its end. */
export async function runInside(
  program: readonly string[],
): Promise<AsyncDisposable & { readonly exited: Promise<number> }> {
  if (!existsSync(FILE)) await run('ip', ['netns', 'add', NAMESPACE]);
  await run('ip', ['-n', NAMESPACE, 'link', 'set', 'lo', 'up']);
  // The IPC channel closes when this process ends; then the program inside stops.
  const child = spawn('nsenter', [`--net=${FILE}`, process.execPath, ...program], {
    env: { ...process.env, [INSIDE]: '1' },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  const exited = new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
  return {
    exited,
    [Symbol.asyncDispose]: async () => {
      // A terminal sends Ctrl-C to both; nothing happens when it is the second signal within a second.
      child.kill('SIGTERM');
      await exited;
    },
  };
}

export async function openNetwork(): Promise<void> {
  await podman('network', 'create', '--disable-dns', '--subnet', `${SUBNET}.0/24`, '--gateway', OWN_ADDRESS, NETWORK);
}

/** Removes all containers of a cluster and its network, also those of a run that was killed. */
export async function removeAll(): Promise<void> {
  const ids = (await podman('ps', '--all', '--quiet', '--filter', `label=${LABEL}`)).split('\n').filter(Boolean);
  if (ids.length > 0) await podman('rm', '--force', '--time', '0', ...ids);
  const networks = (await podman('network', 'ls', '--quiet')).split('\n');
  if (networks.includes(NETWORK)) await podman('network', 'rm', NETWORK);
}

export function removeNamespace(): void {
  if (existsSync(FILE)) spawnSync('ip', ['netns', 'delete', NAMESPACE]);
}
