/**
 * Preloaded into each service of a soak: notes every few seconds what the process takes right after a full collection.
 *
 * Without that, memory cannot be judged within minutes. V8 lets garbage lie until its heap is a multiple of what is alive,
 * so for the first quarter of an hour a sound process under light load looks like a leak, and a leak like a sound one.
 */
import { appendFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** One line of the file of a process. */
export interface HeapSample {
  readonly bornMs: number;
  readonly atMs: number;
  /** What V8 and what it knows of outside its heap hold, all garbage gone. */
  readonly aliveBytes: number;
  readonly residentBytes: number;
  /** What is resident outside of V8's heap: buffers, native code and its data. The heap itself comes and goes in large pieces. */
  readonly nativeBytes: number;
}

/** Set for a process that is to be watched: the file it writes to. */
export const PROBE_VARIABLE = 'HEAP_PROBE_DIRECTORY';
const EVERY_MS = 5_000;

const directory = process.env[PROBE_VARIABLE];
if (directory !== undefined) probe(`${directory}/${process.pid}.jsonl`);

function probe(file: string): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setInterval(() => {
    // What is only held weakly goes with the second collection.
    collect();
    collect();
    const { heapUsed, heapTotal, external, rss } = process.memoryUsage();
    const line: HeapSample = {
      bornMs: performance.timeOrigin,
      atMs: Date.now(),
      aliveBytes: heapUsed + external,
      residentBytes: rss,
      nativeBytes: rss - heapTotal,
    };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  }, EVERY_MS).unref();
}
