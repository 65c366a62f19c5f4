/** Runs podman with a configuration of its own, so that nothing depends on that of the machine. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LOCAL, UserError } from '@wts/local';

const exec = promisify(execFile);
const NEEDED = ['podman', 'runc', 'nsenter', 'ip', 'nft'];
const NETAVARK = '/usr/lib/podman/netavark';
const RUN_MS = 120_000;

/** Everything of a cluster that outlives its processes: data, logs, settings. */
export const HOME = join(LOCAL, 'cluster');
/** The label of every container. */
export const LABEL = 'wts.cluster';

/** runc and cgroupfs, because other defaults need systemd or refuse hybrid cgroups. */
const CONFIGURATION = `[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=4096:4096"]
`;

/** Throws a sentence that says what is missing on this machine. */
export function requireMachine(): void {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new UserError(
      'npm run cluster needs Linux and root, because it makes a network of its own for its containers.',
    );
  const missing = NEEDED.filter((program) => spawnSync(program, ['--version']).error !== undefined);
  if (spawnSync(NETAVARK, ['--version']).error !== undefined) missing.push('netavark');
  if (missing.length > 0)
    throw new UserError(
      `npm run cluster needs ${missing.join(', ')}. On Debian: apt-get install --no-install-recommends podman runc netavark nftables iptables iproute2.`,
    );
  mkdirSync(HOME, { recursive: true, mode: 0o700 });
  const file = join(HOME, 'containers.conf');
  writeFileSync(file, CONFIGURATION);
  process.env['CONTAINERS_CONF'] = file;
}

/** Resolves to what it printed. */
export async function podman(...args: readonly string[]): Promise<string> {
  return run('podman', args);
}

export async function run(command: string, args: readonly string[], input = ''): Promise<string> {
  const running = exec(command, args, { timeout: RUN_MS, maxBuffer: 64 * 1024 * 1024 });
  // A program that does not read it has ended before.
  running.child.stdin?.on('error', () => {}).end(input);
  try {
    return (await running).stdout.trim();
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    throw new Error(`${command} ${args.join(' ')}: ${stderr.trim() || (error as Error).message}`, { cause: error });
  }
}
