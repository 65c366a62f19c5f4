import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningProcess } from '../processes/launch.ts';
import { lastLines } from '../processes/logs.ts';
import { textOf } from '../refusal.ts';

/** What a test may do to a server, and what `npm start` does about it. */
export interface ServerControl extends AsyncDisposable {
  readonly pid: () => number;
  /** Orderly, as at the end of the day; then `start` again at the same address. */
  readonly stop: () => Promise<void>;
  /** As in a power cut. */
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
}

interface Kept {
  readonly name: string;
  readonly start: () => Promise<RunningProcess>;
  readonly stopSignal: NodeJS.Signals;
  /** When given, a server that ends by itself is started again, and this is told. */
  readonly onCrash: ((text: string) => void) | undefined;
  readonly afterEnd: () => void;
}

const STOP_MS = 20_000;
const RETRY_MS = 1_000;

/** Holds one server process over its lives. */
export async function keep({ name, start, stopSignal, onCrash, afterEnd }: Kept): Promise<ServerControl> {
  // An object, because it changes while loops below wait.
  const wanted = { now: true };
  let server = await watched();

  async function watched(): Promise<RunningProcess> {
    const started = await start();
    void started.exited.then(() => revive(started));
    return started;
  }

  async function revive(ended: RunningProcess): Promise<void> {
    if (!wanted.now || onCrash === undefined) return;
    onCrash(`${name} ended; starting it again. Its last lines:\n${lastLines(ended.log, 5).replace(/^/gm, '    ')}`);
    while (wanted.now) {
      try {
        server = await watched();
        onCrash(`${name} is back.`);
        return;
      } catch (error) {
        onCrash(textOf(error));
        await sleep(RETRY_MS);
      }
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    wanted.now = false;
    await server.stop(signal, STOP_MS);
  }

  return {
    pid: () => server.pid,
    stop: () => end(stopSignal),
    kill: () => end('SIGKILL'),
    start: async () => {
      wanted.now = true;
      if (server.exit !== null) server = await watched();
    },
    [Symbol.asyncDispose]: async () => {
      await end(stopSignal);
      afterEnd();
    },
  };
}
