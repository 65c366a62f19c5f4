/** How much processor time the processes of a test run take, which other work on the machine hardly changes. */
import { readFileSync } from 'node:fs';

let seenSeconds = 0;

/** Of the children that have ended, and of theirs. 0 where there is no /proc. */
export function processorSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // Fields 16 and 17 of proc(5), in hundredths; field 2 may contain spaces.
    const [user = 0, system = 0] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(14, 16).map(Number);
    return (user + system) / 100;
  } catch {
    return 0;
  }
}

/** Of the children that ended since the last call. */
export function newProcessorSeconds(): number {
  const before = seenSeconds;
  seenSeconds = processorSeconds();
  return seenSeconds - before;
}

export function processorText(seconds: number): string {
  return seconds === 0 ? '' : `${seconds.toFixed(1).padStart(7)} s of processors`;
}
