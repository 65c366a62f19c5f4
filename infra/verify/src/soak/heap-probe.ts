/**
 * Preloaded into each service of a soak: every few seconds it collects all garbage and writes down the memory of the process.
 *
 * Without that, a soak of minutes cannot find a leak. V8 keeps garbage until its heap is a multiple of the live objects, so for
 * the first quarter of an hour a process under light load grows whether it leaks or not.
 */
import { appendFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** One line of the file of a process. */
export interface HeapSample {
  readonly startedMs: number;
  readonly atMs: number;
  /** Live objects in V8's heap, and memory outside the heap that V8 counts. */
  readonly aliveBytes: number;
  readonly residentBytes: number;
  /** Resident memory outside V8's heap: buffers, native code and its data. The heap itself changes in large steps. */
  readonly nativeBytes: number;
}

/** The directory in which a watched process writes its file. */
export const PROBE_VARIABLE = 'HEAP_PROBE_DIRECTORY';
const EVERY_MS = 5_000;

const directory = process.env[PROBE_VARIABLE];
if (directory !== undefined) probe(`${directory}/${process.pid}.jsonl`);

function probe(file: string): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setInterval(() => {
    // The second collection frees objects that were only weakly referenced.
    collect();
    collect();
    const { heapUsed, heapTotal, external, rss } = process.memoryUsage();
    const line: HeapSample = {
      startedMs: performance.timeOrigin,
      atMs: Date.now(),
      aliveBytes: heapUsed + external,
      residentBytes: rss,
      nativeBytes: rss - heapTotal,
    };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  }, EVERY_MS).unref();
}
