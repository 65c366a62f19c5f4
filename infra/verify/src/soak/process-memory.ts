import type { TestSystem, TestSystemOptions } from '@wts/testkit';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { residentMbOf } from '../resident-memory.ts';
import type { MemorySample, ProcessRun } from './memory.ts';
import { PROBE_VARIABLE, type HeapSample } from './heap-probe.ts';

const MEGABYTE = 1024 * 1024;
const SERVICES = ['sync', 'workspace', 'gateway', 'webhook-dispatcher', 'graph', 'auth', 'agent'] as const;

/** Collects the memory samples of every process of a system, also of processes that have exited. */
export class ProcessMemory implements Disposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'wts-heap-probe-'));
  readonly #names = new Map<number, string>();
  readonly #nats = new Map<number, { process: string; startedMs: number; samples: MemorySample[] }>();

  /** The settings with which the system must start. */
  get overrides(): NonNullable<TestSystemOptions['overrides']> {
    const probe = new URL('heap-probe.ts', import.meta.url).href;
    const variables = { NODE_OPTIONS: `--import=${probe}`, [PROBE_VARIABLE]: this.#directory };
    return Object.fromEntries(SERVICES.map((service) => [service, variables]));
  }

  /** Call it often, because it notes which process id belongs to which service. */
  sample(testSystem: TestSystem): void {
    for (const { name, pid } of testSystem.services) if (pid !== null) this.#names.set(pid, name);
    const pid = testSystem.nats.pid();
    const megabytes = residentMbOf(pid);
    if (megabytes === 0) return;
    const run = this.#nats.get(pid) ?? { process: 'nats', startedMs: Date.now(), samples: [] };
    this.#nats.set(pid, run);
    run.samples.push({ atMs: Date.now(), megabytes });
  }

  /** Live memory of each service, right after a garbage collection. */
  alive(): ProcessRun[] {
    return this.#samples(({ aliveBytes }) => aliveBytes);
  }

  /** Resident memory, right after a garbage collection. */
  resident(): ProcessRun[] {
    return this.#samples(({ residentBytes }) => residentBytes);
  }

  /** Resident memory outside V8's heap. */
  native(): ProcessRun[] {
    return this.#samples(({ nativeBytes }) => nativeBytes);
  }

  /** Resident memory of NATS, which collects its garbage at its own times. */
  nats(): ProcessRun[] {
    return [...this.#nats.values()];
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #samples(bytesOf: (sample: HeapSample) => number): ProcessRun[] {
    return readdirSync(this.#directory).flatMap((file) => {
      const process = this.#names.get(Number(basename(file, '.jsonl')));
      const lines = readFileSync(join(this.#directory, file), 'utf8').split('\n').slice(0, -1);
      const all = lines.map((line) => JSON.parse(line) as HeapSample);
      const startedMs = all[0]?.startedMs;
      if (process === undefined || startedMs === undefined) return [];
      return {
        process,
        startedMs,
        samples: all.map((one) => ({ atMs: one.atMs, megabytes: bytesOf(one) / MEGABYTE })),
      };
    });
  }
}
