import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OWN_ADDRESS, NETWORK } from './network.ts';
import type { ContainerPlan, Workload } from './plan.ts';
import { HOME, LABEL, podman, run } from './podman.ts';

/** How a pod is allowed to be, because of what a run does to it. */
type Disturbed = 'killed' | 'frozen' | 'stopping' | null;

/** A container of a workload with an address of its own, which it keeps over restarts. */
export class Pod {
  readonly name: string;
  readonly workload: Workload;
  readonly address: string;
  /** Gets new connections. */
  isReady = false;
  disturbed: Disturbed = null;
  readonly #files: string;

  constructor(workload: Workload, name: string, address: string) {
    this.workload = workload;
    this.name = name;
    this.address = address;
    this.#files = join(HOME, 'pods', name);
  }

  async start(): Promise<void> {
    for (const [index, plan] of this.workload.init.entries())
      await podman('run', '--rm', ...this.#options(plan, `${this.name}-init-${index}`));
    await podman('run', '--detach', '--pidfile', this.#pidFile, ...this.#options(this.workload.main, this.name));
  }

  /** Runs all containers of a Job, one after the other. Throws when one fails. */
  async complete(): Promise<void> {
    for (const [index, plan] of [...this.workload.init, this.workload.main].entries())
      await podman('run', '--rm', ...this.#options(plan, `${this.name}-${index}`));
  }

  get pid(): number {
    return Number(readFileSync(this.#pidFile, 'utf8'));
  }

  get isAlive(): boolean {
    try {
      process.kill(this.pid, 0);
      return true;
    } catch {
      return false;
    }
  }

  /** As after a crash: same container, same address. */
  async restart(): Promise<void> {
    // Until podman has seen the exit, it takes the container for a running one and starts nothing.
    await podman('wait', '--condition', 'exited', this.name);
    await podman('start', this.name);
  }

  /** As when a pod is deleted: no new connections, SIGTERM, and SIGKILL after the grace period. */
  async stop(): Promise<void> {
    this.disturbed = 'stopping';
    this.isReady = false;
    await podman('stop', '--time', String(this.workload.graceSeconds), this.name);
    await podman('rm', this.name);
  }

  kill(): void {
    this.disturbed = 'killed';
    process.kill(this.pid, 'SIGKILL');
  }

  async freeze(): Promise<void> {
    this.disturbed = 'frozen';
    await podman('pause', this.name);
  }

  async thaw(): Promise<void> {
    await podman('unpause', this.name);
    this.disturbed = null;
  }

  /** Drops all packets between this pod and these addresses. */
  async partition(addresses: readonly string[]): Promise<void> {
    const all = addresses.join(', ');
    const rules = `table inet wts {
      chain in { type filter hook input priority 0; ip saddr { ${all} } drop; }
      chain out { type filter hook output priority 0; ip daddr { ${all} } drop; }
    }`;
    await this.#inNetwork(['-f', '-'], rules);
  }

  async heal(): Promise<void> {
    await this.#inNetwork(['delete', 'table', 'inet', 'wts']);
  }

  async #inNetwork(args: readonly string[], input = ''): Promise<void> {
    await run('nsenter', ['--target', String(this.pid), '--net', 'nft', ...args], input);
  }

  get #pidFile(): string {
    return join(this.#files, 'pid');
  }

  #options(plan: ContainerPlan, name: string): string[] {
    const environment = this.#environment(plan);
    const mounts = plan.files.map(({ path, text }) => {
      const file = join(this.#files, path.replaceAll('/', '_'));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text, { mode: 0o444 });
      return `${file}:${path}:ro`;
    });
    mkdirSync(this.#files, { recursive: true });
    const [entry, ...rest] = plan.command;
    return [
      ...containerOptions({ name, address: this.address, environment, mounts }),
      ...(plan.memory === '' ? [] : ['--memory', plan.memory.replace(/i$/, '').toLowerCase()]),
      ...(plan.user === undefined ? [] : ['--user', `${plan.user}:${plan.user}`]),
      ...(plan.isReadOnly ? ['--read-only', '--read-only-tmpfs=false'] : []),
      ...(plan.dropsAll ? ['--cap-drop', 'all'] : []),
      '--security-opt',
      'no-new-privileges',
      ...plan.temporary.flatMap((path) => ['--tmpfs', `${path}:rw,mode=1777`]),
      ...(entry === undefined ? [] : ['--entrypoint', entry]),
      plan.image,
      ...rest,
      ...plan.args,
    ];
  }

  /** `$(NAME)` in a value stands for a variable above it. */
  #environment(plan: ContainerPlan): string[] {
    const fields: Readonly<Record<string, string>> = {
      'metadata.name': this.name,
      'metadata.namespace': 'default',
      'metadata.uid': this.name,
      'status.podIP': this.address,
      'spec.nodeName': 'node',
    };
    const known = new Map<string, string>();
    for (const [name, value] of plan.env) {
      const text = typeof value === 'string' ? value : fields[value.field];
      if (text === undefined) throw new Error(`${this.name} needs ${JSON.stringify(value)}, which is not known here`);
      known.set(
        name,
        text.replaceAll(/\$\((\w+)\)/g, (all, other: string) => known.get(other) ?? all),
      );
    }
    return [...known].map(([name, value]) => `${name}=${value}`);
  }

  [Symbol.dispose](): void {
    rmSync(this.#files, { recursive: true, force: true });
  }
}

interface ContainerOptions {
  readonly name: string;
  readonly address: string;
  /** As `NAME=value`. */
  readonly environment: readonly string[];
  /** As `from:to:options`. */
  readonly mounts: readonly string[];
}

/** The options of `podman run` that all containers of a cluster have. */
export function containerOptions({ name, address, environment, mounts }: ContainerOptions): string[] {
  mkdirSync(join(HOME, 'logs'), { recursive: true });
  return [
    '--name',
    name,
    '--label',
    `${LABEL}=1`,
    '--pull',
    'never',
    '--network',
    NETWORK,
    '--ip',
    address,
    '--dns',
    OWN_ADDRESS,
    '--dns-search',
    '.',
    '--log-driver',
    'k8s-file',
    '--log-opt',
    `path=${join(HOME, 'logs', `${name}.log`)}`,
    ...environment.flatMap((one) => ['--env', one]),
    ...mounts.flatMap((one) => ['--volume', one]),
  ];
}
