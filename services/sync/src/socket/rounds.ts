import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Packets } from '../hub/packet.ts';

/** Is called once in a round, to take what is new. */
export interface Puller {
  pull(horizon: bigint, shared: SharedPackets): void;
}

/** The packets of one round, by content: sockets that get the same bytes get the same buffer. */
export type SharedPackets = Map<string, Packets>;

/** Sockets served in one turn of the event loop. */
const SOCKETS_AT_ONCE = 256;
/** A round as short as this needs no pause after it. */
const SHORT_ROUND_MS = 2;
const PAUSE_MAX_MS = 25;

/**
 * Serves waiting sockets in rounds. All sockets of a round are served up to the same horizon, so those with the same groups
 * get the same packets. Changes during a round are served by the next: with few sockets each change is sent immediately,
 * with many sockets several changes share a frame, and the longer a round takes the more of them do.
 */
export class Rounds {
  readonly #horizon: () => bigint;
  readonly #onRound: (horizon: bigint) => void;
  #waiting = new Set<Puller>();
  #isRunning = false;

  constructor(horizon: () => bigint, onRound: (horizon: bigint) => void) {
    this.#horizon = horizon;
    this.#onRound = onRound;
  }

  enqueue(one: Puller): void {
    this.#waiting.add(one);
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(() => void this.#run());
  }

  async #run(): Promise<void> {
    while (this.#waiting.size > 0) {
      const started = performance.now();
      await this.#round();
      const tookMs = performance.now() - started;
      if (this.#waiting.size > 0) await pause(tookMs < SHORT_ROUND_MS ? 0 : Math.min(tookMs / 2, PAUSE_MAX_MS));
    }
    this.#isRunning = false;
  }

  async #round(): Promise<void> {
    const round = this.#waiting;
    this.#waiting = new Set();
    const horizon = this.#horizon();
    const shared: SharedPackets = new Map();
    let served = 0;
    for (const one of round) {
      one.pull(horizon, shared);
      served += 1;
      if (served % SOCKETS_AT_ONCE > 0) continue;
      // Bounds the memory of shared packets; the next sockets may need others.
      shared.clear();
      await yieldToOthers();
    }
    this.#onRound(horizon);
  }
}

async function pause(ms: number): Promise<void> {
  if (ms === 0) await yieldToOthers();
  else await new Promise((resolve) => setTimeout(resolve, ms));
}
