import type { TestSystem, TestSystemOptions } from '@wts/testkit';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { Life, Sample } from './memory.ts';
import { PROBE_VARIABLE, type HeapSample } from './heap-probe.ts';

const run = promisify(execFile);
const MEGABYTE = 1024 * 1024;
const SERVICES = ['sync', 'workspace', 'gateway'] as const;

/** What is known of the memory of every process of a system, in all their lives. */
export class ProcessMemory implements Disposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'wts-heap-probe-'));
  readonly #names = new Map<number, string>();
  readonly #nats = new Map<number, { process: string; bornMs: number; samples: Sample[] }>();

  /** For the system to start with. */
  get overrides(): NonNullable<TestSystemOptions['overrides']> {
    const probe = new URL('heap-probe.ts', import.meta.url).href;
    const variables = { NODE_OPTIONS: `--import=${probe}`, [PROBE_VARIABLE]: this.#directory };
    return Object.fromEntries(SERVICES.map((service) => [service, variables]));
  }

  /** Processes come and go: to be called often. */
  async look(testSystem: TestSystem): Promise<void> {
    for (const { name, pid } of testSystem.services) if (pid !== null) this.#names.set(pid, name);
    const pid = testSystem.nats.pid();
    const megabytes = pid === null ? null : await residentOf(pid);
    if (pid === null || megabytes === null) return;
    const life = this.#nats.get(pid) ?? { process: 'nats', bornMs: Date.now(), samples: [] };
    this.#nats.set(pid, life);
    life.samples.push({ atMs: Date.now(), megabytes });
  }

  /** What is alive in each service, right after a collection. */
  alive(): Life[] {
    return this.#samples(({ aliveBytes }) => aliveBytes);
  }

  /** What is resident, right after a collection. */
  resident(): Life[] {
    return this.#samples(({ residentBytes }) => residentBytes);
  }

  /** What is resident outside of V8's heap. */
  native(): Life[] {
    return this.#samples(({ nativeBytes }) => nativeBytes);
  }

  /** What is resident of NATS, which collects when it likes. */
  nats(): Life[] {
    return [...this.#nats.values()];
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #samples(bytesOf: (sample: HeapSample) => number): Life[] {
    return readdirSync(this.#directory).flatMap((file) => {
      const process = this.#names.get(Number(basename(file, '.jsonl')));
      const lines = readFileSync(join(this.#directory, file), 'utf8').split('\n').slice(0, -1);
      const told = lines.map((line) => JSON.parse(line) as HeapSample);
      const bornMs = told[0]?.bornMs;
      if (process === undefined || bornMs === undefined) return [];
      return { process, bornMs, samples: told.map((one) => ({ atMs: one.atMs, megabytes: bytesOf(one) / MEGABYTE })) };
    });
  }
}

/** Null when there is no such process any more. */
async function residentOf(pid: number): Promise<number | null> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.trim() === '' ? null : Number(stdout) / 1024;
}
