/** The process of a control client: writes at an address until it is stopped. */
import type { MutateReply } from '@wts/contracts';
import { serveCommands } from '@wts/testkit/worker';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { newTask } from '../load/writers.ts';

interface WriteCommand {
  readonly do: 'write';
  readonly baseUrl: string;
  readonly token: string;
  readonly workspaceId: string;
}

export type ControlCommand = WriteCommand | { readonly do: 'stop' };

export interface ControlResult {
  /** The time of each change, ascending. */
  readonly tookMs: readonly number[];
  /** How often a change got 503 with Retry-After, as designed, and was sent again. */
  readonly refusals: number;
  /** Any other error. */
  readonly failures: readonly string[];
}

const EVERY_MS = 50;
const TIMEOUT_MS = 15_000;

let writing: { stop: AbortController; result: Promise<ControlResult> } | null = null;
serveCommands((command: ControlCommand) => {
  if (command.do === 'stop') {
    writing?.stop.abort();
    return writing?.result;
  }
  const stop = new AbortController();
  writing = { stop, result: write(command, stop.signal) };
  return undefined;
});

async function write(command: WriteCommand, stop: AbortSignal): Promise<ControlResult> {
  const tookMs: number[] = [];
  const failures: string[] = [];
  let refusals = 0;
  while (!stop.aborted) {
    const startedMs = performance.now();
    const clientTxId = randomUUID();
    for (;;) {
      const outcome = await insertTask(command, clientTxId).catch(
        (error: unknown) => `failed: ${(error as Error).message}`,
      );
      if (typeof outcome === 'string') failures.push(outcome);
      if (typeof outcome !== 'number') break;
      refusals += 1;
      await pause(outcome * 1000);
    }
    tookMs.push(performance.now() - startedMs);
    await pause(Math.max(0, EVERY_MS - (performance.now() - startedMs)));
  }
  return { tookMs: tookMs.toSorted((a, b) => a - b), refusals, failures };
}

/** Resolves to null when it succeeded, to the seconds after which to retry, or to the text of an unexpected error. */
async function insertTask(
  { baseUrl, token, workspaceId }: WriteCommand,
  clientTxId: string,
): Promise<null | number | string> {
  const task = { workspaceId, title: 'Written during the storm' };
  const transaction = newTask(task, 'control', { clientTxId, modelId: clientTxId });
  const { statusCode, headers, body } = await request(`${baseUrl}/sync/mutate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ batchId: randomUUID(), transactions: [transaction] }),
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  const text = await body.text();
  const retryAfter = Number(headers['retry-after']);
  if (statusCode === 503 && retryAfter > 0) return retryAfter;
  if (statusCode !== 200) return `answered ${statusCode}: ${text}`;
  return (JSON.parse(text) as MutateReply).success ? null : `refused: ${text}`;
}
