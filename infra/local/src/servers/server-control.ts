import { SupervisedProcess } from '../processes/supervised.ts';
import type { SupervisedOptions } from '../processes/supervised.ts';

/** What a test may do to a server. */
export interface ServerControl extends AsyncDisposable {
  readonly pid: () => number;
  /** Orderly, as at the end of the day; then `start` again at the same address. */
  readonly stop: () => Promise<void>;
  /** As in a power cut. */
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
}

/** `npm start` gives these, and has a server that ends by itself started again; tests do not. */
export interface CrashListeners {
  readonly onCrash?: (text: string) => void;
  readonly onBack?: (name: string) => void;
}

const STOP_MS = 20_000;

/** Starts a server, whose `launch` resolves once it serves. */
export async function controlServer(
  options: Omit<SupervisedOptions, 'restarts' | 'url'>,
  afterEnd: () => void,
): Promise<ServerControl> {
  const server = new SupervisedProcess({ ...options, restarts: options.onCrash !== undefined });
  await server.start();
  return {
    pid: () => server.pid ?? 0,
    stop: () => server.stop(STOP_MS),
    kill: () => server.kill(),
    start: () => server.start(),
    [Symbol.asyncDispose]: async () => {
      await server.stop(STOP_MS);
      afterEnd();
    },
  };
}
