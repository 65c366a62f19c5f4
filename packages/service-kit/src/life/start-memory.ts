import { performance } from 'node:perf_hooks';

/** So often a service that has started looks whether it is idle. Most of those that tests start have ended before. */
const LOOK_MS = 15_000;
const IDLE_UTILIZATION = 0.1;

/**
 * Gives back what the start of a process took and nothing needs any more: 20 to 40 MB of space for new objects and of the texts of
 * modules, which V8 otherwise keeps as long as a process has little to do. It takes 0.1 s of the event loop, so it waits until the
 * process is idle. The space grows again with the work.
 */
export function releaseStartMemory(): void {
  let seen = performance.eventLoopUtilization();
  const looking = setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(seen);
    seen = performance.eventLoopUtilization();
    if (utilization > IDLE_UTILIZATION) return;
    clearInterval(looking);
    void collectGarbage();
  }, LOOK_MS);
  looking.unref();
}

/** All garbage at once, which only the inspector does without flags of V8. */
async function collectGarbage(): Promise<void> {
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
}
