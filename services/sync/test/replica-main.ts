/** The process of `replica-process.ts`. */
import { Pool } from 'pg';
import type { ReplicaReport, ReplicaProcessOptions } from './replica-process.ts';
import { openTestReplica } from './replica.ts';

const { databaseUrl, limits } = JSON.parse(process.argv[2] ?? '') as ReplicaProcessOptions;
const pool = new Pool({ connectionString: databaseUrl });
const { baseUrl, socketServer } = await openTestReplica({
  pool,
  pollMs: 100,
  limits: { ...limits, tickMs: 200 },
  // A small ring, so that the memory of sockets is visible next to what they share.
  ring: { bytesMax: 2_000_000, ageMs: 60_000 },
});
process.on('message', (question) => {
  const isReport = question === 'report';
  // The second collection frees what is only weakly referenced.
  if (isReport) for (let times = 0; times < 2; times += 1) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.({ aliveBytes: heapUsed + external, sockets: socketServer.size } satisfies ReplicaReport);
});
process.on('disconnect', () => process.exit());
process.send?.({ baseUrl });
