/** The process of `replica-process.ts`. */
import { Pool } from 'pg';
import type { Look, ReplicaProcessOptions } from './replica-process.ts';
import { openTestReplica } from './replica.ts';

const { databaseUrl, limits } = JSON.parse(process.argv[2] ?? '') as ReplicaProcessOptions;
const pool = new Pool({ connectionString: databaseUrl });
const { baseUrl, socketServer } = await openTestReplica({
  pool,
  pollMs: 20,
  limits: { ...limits, tickMs: 50 },
  // Little, so that what sockets hold is not hidden behind what all of them share.
  ring: { bytesMax: 2_000_000, ageMs: 60_000 },
});
process.on('message', () => {
  // What is only held weakly goes with the second collection.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.({ aliveBytes: heapUsed + external, sockets: socketServer.size } satisfies Look);
});
process.on('disconnect', () => process.exit());
process.send?.({ baseUrl });
