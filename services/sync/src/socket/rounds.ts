import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Packets } from '../hub/packet.ts';

/** Whoever takes what is new when a round comes by. */
export interface Puller {
  pull(horizon: bigint, shared: SharedPackets): void;
}

/** Packets made within one round, by what is in them: sockets that are to get the same bytes get the same buffer. */
export type SharedPackets = Map<string, Packets>;

/** So many sockets are served before others may use the event loop. */
const SOCKETS_AT_ONCE = 256;
/** A round as short as this needs no rest after it. */
const SHORT_ROUND_MS = 2;
const REST_MAX_MS = 25;

/**
 * Serves waiting sockets in rounds. All of a round are brought to the same horizon, so those with the same groups get
 * the same packets. While a round runs, changes gather for the next: with few sockets each change goes out at once, with
 * many, several changes share a frame, and the longer a round takes the more of them do.
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
      if (this.#waiting.size > 0) await rest(tookMs < SHORT_ROUND_MS ? 0 : Math.min(tookMs / 2, REST_MAX_MS));
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
      // What was made for so many is enough to hold; whoever comes after may need something else.
      shared.clear();
      await yieldToOthers();
    }
    this.#onRound(horizon);
  }
}

async function rest(ms: number): Promise<void> {
  if (ms === 0) await yieldToOthers();
  else await new Promise((resolve) => setTimeout(resolve, ms));
}
