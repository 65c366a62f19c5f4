/**
 * `npm run fuzz`: starts a system and runs the fuzzer for a long time; exits with 1 when a response breaks a rule.
 *
 *   -- --requests 100000   the approximate number of requests
 *   -- --seed 7            repeats a run
 */
import { startTestSystem } from '@wts/testkit';
import { numbersOrExit } from '@wts/verify';
import { parseArgs } from 'node:util';
import { fuzz } from './fuzz.ts';
import { existingIds } from './existing-ids.ts';

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '100000' }, seed: { type: 'string' } },
});
const ROUNDS_OF = 100;
const { requests: wanted, seed } = numbersOrExit(
  { requests: values.requests, seed: values.seed ?? String(Date.now() % 2 ** 31) },
  { requests: 1, seed: 0 },
);
const RATE_LIMITS = JSON.stringify({ rest: 0, codes: 0, 'codes-address': 0, keys: 0 });

await using testSystem = await startTestSystem({ label: 'fuzz', overrides: { gateway: { RATE_LIMITS } } });
let requests = 0;
const statuses: Record<string, number> = {};
for (let round = 0; requests < wanted; round += 1) {
  // A new person each round, because what one person may own is limited.
  const person = await testSystem.person('Fuzzer');
  const report = await fuzz({
    baseUrl: testSystem.baseUrl,
    token: person.token,
    seed: seed + round,
    runsPerOperation: ROUNDS_OF,
    known: await existingIds(testSystem, person),
  });
  requests += report.requests;
  for (const [status, count] of Object.entries(report.statuses)) statuses[status] = (statuses[status] ?? 0) + count;
  process.stdout.write(`${requests} requests, seed ${seed + round}: ${JSON.stringify(statuses)}\n`);
  if (report.faults.length === 0) continue;
  process.stderr.write(`${report.faults.join('\n\n')}\n`);
  process.exitCode = 1;
  break;
}
