import { FairQueue } from '@wts/service-kit/fairness';
import type { Pool, PoolClient } from 'pg';
import { DISPATCH } from '../limits.ts';
import type { Held } from './due-queue.ts';
import type { DueDelivery, EndpointSettings, WaitingRetry } from '../store/lanes.ts';
import { readFirsts, readRetries, readSettings } from '../store/lanes.ts';

export interface ReadRequest {
  readonly endpointId: string;
  /** Of its workspace. */
  readonly ownerId: string;
  /** False only when the lane has fresh settings of a served endpoint. */
  readonly wantsSettings: boolean;
  /** First attempts behind this sequence; null for none. */
  readonly firstsAfter: number | null;
  readonly wantsRetries: boolean;
}

export interface Reading {
  /** On the monotonic clock, before the statement: nothing in it is older. */
  readonly readAtMs: number;
  /** Undefined when they were not requested, null when the endpoint was deleted. */
  readonly settings: EndpointSettings | null | undefined;
  readonly firsts: readonly DueDelivery[];
  readonly hasMoreFirsts: boolean;
  readonly retries: readonly WaitingRetry[];
  /** True when there may be retries behind the last one. */
  readonly mayHaveMoreRetries: boolean;
}

interface WaitingRequest extends ReadRequest {
  readonly resolve: (reading: Reading) => void;
  readonly reject: (reason: Error) => void;
}

/** A lane with so many retries under way or unrecorded begins no more, so that a page always holds some that can begin. */
export const RETRIES_READ = 8;

/**
 * Reads what lanes request, several lanes in one statement: at once, together with the requests that arrive during a reading.
 * Owners take turns, and what one statement reads is bounded.
 */
export class LaneReader {
  readonly #pool: Pool;
  readonly #held: Held;
  readonly #waiting = new FairQueue<WaitingRequest>();
  #isReading = false;

  constructor(pool: Pool, held: Held) {
    this.#pool = pool;
    this.#held = held;
  }

  async read(request: ReadRequest): Promise<Reading> {
    return new Promise<Reading>((resolve, reject) => {
      this.#waiting.push(request.ownerId, { ...request, resolve, reject });
      if (!this.#isReading) void this.#readAll();
    });
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    // Lanes that were woken together are read together.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const batch = this.#next();
      try {
        const readings = await this.#readBatch(batch);
        for (const [at, { resolve }] of batch.entries()) resolve(readings[at] as Reading);
      } catch (error) {
        for (const { reject } of batch) reject(error as Error);
      }
    }
    this.#isReading = false;
  }

  #next(): WaitingRequest[] {
    const batch: WaitingRequest[] = [];
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      batch.push(next.item);
      if (batch.length >= DISPATCH.readLanes) break;
    }
    return batch;
  }

  async #readBatch(batch: readonly ReadRequest[]): Promise<Reading[]> {
    const client = await this.#pool.connect();
    let failure: Error | undefined;
    try {
      const { windowsBytesMax, windowRows, readRows } = DISPATCH;
      const rows = Math.min(windowRows, Math.ceil(readRows / batch.length));
      return await readLanes(client, batch, this.#held.characters < windowsBytesMax ? rows : 1);
    } catch (error) {
      failure = error as Error;
      throw error;
    } finally {
      client.release(failure);
    }
  }
}

/** The settings first, so that everything that `wakes` counts is in what is read after it. */
async function readLanes(client: PoolClient, batch: readonly ReadRequest[], rows: number): Promise<Reading[]> {
  const readAtMs = performance.now();
  const settingsOf = batch.flatMap(({ endpointId, wantsSettings }) => (wantsSettings ? [endpointId] : []));
  const all = settingsOf.length === 0 ? [] : await readSettings(client, settingsOf);
  const settings = new Map(all.map((one) => [one.endpointId, one]));
  const served = batch.filter(
    ({ endpointId, wantsSettings }) => !wantsSettings || settings.get(endpointId)?.isServed === true,
  );
  const firstsRequested = served.flatMap(({ endpointId, firstsAfter }) =>
    firstsAfter === null ? [] : [{ endpointId, afterSequence: firstsAfter }],
  );
  const retriesRequested = served.flatMap(({ endpointId, wantsRetries }) => (wantsRetries ? [endpointId] : []));
  const bytes = Math.min(DISPATCH.windowBytes, Math.ceil(DISPATCH.readBytes / batch.length));
  const firsts = firstsRequested.length === 0 ? [] : await readFirsts(client, firstsRequested, { rows, bytes });
  const retries = retriesRequested.length === 0 ? [] : await readRetries(client, retriesRequested, RETRIES_READ);
  const firstsOf = Map.groupBy(firsts, ({ endpointId }) => endpointId);
  const retriesOf = Map.groupBy(retries, ({ endpointId }) => endpointId);
  return batch.map(({ endpointId, wantsSettings }) => {
    const own = firstsOf.get(endpointId) ?? [];
    const ownRetries = retriesOf.get(endpointId) ?? [];
    return {
      readAtMs,
      settings: wantsSettings ? (settings.get(endpointId) ?? null) : undefined,
      firsts: own,
      hasMoreFirsts: own.length >= rows || own.length < (own[0]?.found ?? 0),
      retries: ownRetries,
      mayHaveMoreRetries: ownRetries.length >= RETRIES_READ,
    };
  });
}
