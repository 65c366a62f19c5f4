import { SupervisedProcess, type SupervisedOptions } from '../processes/supervised.ts';

/** How a test controls a server. */
export interface ServerControl extends AsyncDisposable {
  readonly pid: () => number;
  /** Stops it normally. `start` uses the same address. */
  readonly stop: (graceMs?: number) => Promise<void>;
  /** Stops it with SIGKILL. */
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
}

/** A server with these handlers is restarted after a crash. `npm start` sets them, tests do not. */
export interface CrashHandlers {
  readonly onCrash?: (text: string) => void;
  readonly onRestarted?: (name: string) => void;
  readonly mayRestart?: () => boolean;
}

const STOP_MS = 20_000;

/** Starts a server. Its `launch` must resolve only when the server is ready. */
export async function controlServer(
  options: Omit<SupervisedOptions, 'restarts' | 'url'>,
  afterEnd: () => void,
): Promise<ServerControl> {
  const server = new SupervisedProcess({ ...options, restarts: options.onCrash !== undefined });
  await server.start();
  return {
    pid: () => server.pid ?? 0,
    stop: (graceMs = STOP_MS) => server.stop(graceMs),
    kill: () => server.kill(),
    start: () => server.start(),
    [Symbol.asyncDispose]: async () => {
      await server.stop(STOP_MS);
      afterEnd();
    },
  };
}
