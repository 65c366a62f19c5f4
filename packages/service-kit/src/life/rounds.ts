import { setTimeout as sleep } from 'node:timers/promises';

interface RoundsOptions {
  /** Its signal aborts when the rounds stop. */
  readonly round: (signal: AbortSignal) => Promise<void>;
  /** From the end of a round to the next one. */
  readonly everyMs: number | (() => number);
  readonly onFailure: (error: unknown) => void;
}

/** Disposing stops the rounds, and waits for the one in progress. */
export interface Rounds extends AsyncDisposable {
  /** Begins the next round immediately, or after the one in progress. */
  wake(): void;
}

/** Work of a service that is repeated while it runs. A round that failed is reported, and the next one follows at its time. */
export function startRounds({ round, everyMs, onFailure }: RoundsOptions): Rounds {
  const stopping = new AbortController();
  const { signal } = stopping;
  let waking = new AbortController();
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      waking = new AbortController();
      try {
        await round(signal);
      } catch (error) {
        if (!signal.aborted) onFailure(error);
      }
      const until = AbortSignal.any([waking.signal, signal]);
      const pauseMs = typeof everyMs === 'number' ? everyMs : everyMs();
      await sleep(pauseMs, undefined, { signal: until, ref: false }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    wake: () => waking.abort(),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
}
