/** The thread of a control: works where it is told to, and tells what it met when it is called off. */
import type { MutateReply } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { request } from 'undici';

/** A door to work at, or null to stop and tell. */
export interface Order {
  readonly work: string | null;
}

/** What somebody met who only wanted to work meanwhile. */
export interface Experience {
  /** Of each change, in milliseconds, ascending. */
  readonly tookMs: readonly number[];
  /** How often a change was refused in the designed way, 503 with Retry-After, and sent again. */
  readonly refusals: number;
  /** Anything else. */
  readonly failures: readonly string[];
}

const EVERY_MS = 50;
/** Nobody waits for a change longer than this. */
const PATIENCE_MS = 15_000;
const { token, workspaceId } = workerData as { token: string; workspaceId: string };

let working: { stop: AbortController; met: Promise<Experience> } | null = null;
parentPort?.on('message', ({ work: door }: Order) => {
  if (door !== null) {
    const stop = new AbortController();
    working = { stop, met: work(door, stop.signal) };
  } else {
    working?.stop.abort();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    void working?.met.then((experience) => parentPort?.postMessage(experience));
  }
});

async function work(door: string, stop: AbortSignal): Promise<Experience> {
  const tookMs: number[] = [];
  const failures: string[] = [];
  let refusals = 0;
  while (!stop.aborted) {
    const startedMs = performance.now();
    const clientTxId = randomUUID();
    for (;;) {
      const answer = await change(door, clientTxId).catch((error: unknown) => `failed: ${(error as Error).message}`);
      if (typeof answer === 'string') failures.push(answer);
      if (typeof answer !== 'number') break;
      refusals += 1;
      await pause(answer * 1000);
    }
    tookMs.push(performance.now() - startedMs);
    await pause(Math.max(0, EVERY_MS - (performance.now() - startedMs)));
  }
  return { tookMs: tookMs.toSorted((a, b) => a - b), refusals, failures };
}

/** Null when it is done; the seconds after which to try again; or what must not happen. */
async function change(door: string, clientTxId: string): Promise<null | number | string> {
  const payload = { workspaceId, title: 'Beside the storm' };
  const transaction = {
    clientTxId,
    clientId: 'control',
    modelName: 'Task',
    modelId: clientTxId,
    action: 'INSERT',
    payload,
  };
  const { statusCode, headers, body } = await request(`${door}/sync/mutate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ batchId: randomUUID(), transactions: [transaction] }),
    headersTimeout: PATIENCE_MS,
    bodyTimeout: PATIENCE_MS,
  });
  const text = await body.text();
  const retryAfter = Number(headers['retry-after']);
  if (statusCode === 503 && retryAfter > 0) return retryAfter;
  if (statusCode !== 200) return `answered ${statusCode}: ${text}`;
  return (JSON.parse(text) as MutateReply).success ? null : `refused: ${text}`;
}
