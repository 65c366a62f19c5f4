import { streamOf } from '@wts/contracts';
import { connectTo } from '@wts/testkit';
import { setTimeout as pause } from 'node:timers/promises';
import { auditCopy, auditNewCopy, type ClientCopy } from '../audit-live.ts';
import { auditLog } from '../audit-log.ts';
import { auditStream } from '../audit-stream.ts';
import { connectToBroker } from '../broker.ts';
import type { CheckedSystem } from '../checked-system.ts';
import { needsBootstrap } from '../followers.ts';
import type { DeliveryCheck } from './delivery-check.ts';

const CATCH_UP_MS = 60_000;

/** Everything that is checked once, after the writers have stopped: readers reach the end, and all audits pass. */
export async function checkEnd(system: CheckedSystem, check: DeliveryCheck, copy: ClientCopy): Promise<void> {
  await system.untilReady();
  await using client = await connectTo(system.database.url);
  await using nc = await connectToBroker(system.nats.url);
  // Checks and closes the followers that were unwatched meanwhile.
  await check.runRound();
  const log = await auditLog(client);
  const deadlineMs = performance.now() + CATCH_UP_MS;
  while (check.reached < log.head && performance.now() < deadlineMs) await pause(50);
  if (check.reached < log.head)
    check.report([
      { guarantee: 'readers-advance', seen: `the slowest reader is at ${check.reached}; the log is at ${log.head}` },
    ]);
  if (!(await check.runRound())) throw new Error('the log cannot be read at the end');
  await check.findDoubled();
  check.report(log.findings);
  check.report((await auditStream(nc, client, { of: streamOf(system.shard ?? 0) })).findings);
  const account = { baseUrl: system.baseUrl, token: system.apiKey };
  const { findings } = await auditCopy(client, account, copy).catch((error: unknown) => {
    // A promotion ended the log of that copy.
    if (needsBootstrap(error)) return auditNewCopy(client, account, copy.groups);
    throw error;
  });
  check.report(findings);
}
