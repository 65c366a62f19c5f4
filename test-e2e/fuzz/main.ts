/** `npm run fuzz`: starts a system and runs the fuzzer for a long time; exits with 1 when a response breaks a rule. */
import { optionsOrExit } from '@wts/local';
import { startTestSystem } from '@wts/testkit';
import { numbersOrExit } from '@wts/verify';
import { fuzz } from './fuzz.ts';
import { existingIds, existingRecords, strangersRecords } from './existing-ids.ts';
import { fuzzGraphql } from './graphql-fuzz.ts';

const USAGE = `npm run fuzz [-- options]

  --requests N      the approximate number of requests to REST and sync, default 100000
  --operations N    the number of GraphQL operations, default 100000
  --seed N          repeats a run`;

const values = optionsOrExit(USAGE, {
  requests: { type: 'string', default: '100000' },
  operations: { type: 'string', default: '100000' },
  seed: { type: 'string' },
});
const ROUNDS_OF = 100;
const {
  requests: wanted,
  operations: wantedOperations,
  seed,
} = numbersOrExit(
  { requests: values.requests, operations: values.operations, seed: values.seed ?? String(Date.now() % 2 ** 31) },
  { requests: 0, operations: 0, seed: 0 },
);
const RATE_LIMITS = JSON.stringify({ graphql: 0, rest: 0, 'codes-address': 0 });

await using testSystem = await startTestSystem({
  label: 'fuzz',
  overrides: { gateway: { RATE_LIMITS }, workspace: { WRONG_CODES_PER_MINUTE: '0' } },
});
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

const OPERATIONS_OF = 5_000;
const outcomes: Record<string, number> = {};
for (let round = 0, operations = 0; operations < wantedOperations && process.exitCode === undefined; round += 1) {
  const person = await testSystem.person('Fuzzer');
  const known = await existingIds(testSystem, person);
  const report = await fuzzGraphql({
    baseUrl: testSystem.baseUrl,
    token: person.token,
    seed: seed + round,
    operations: Math.min(OPERATIONS_OF, wantedOperations - operations),
    known: [...known, ...(await existingRecords(testSystem, known[0] ?? '', 'Fuzz')).map(({ id }) => id)],
    strange: await strangersRecords(testSystem),
  });
  operations += report.operations;
  for (const [outcome, count] of Object.entries(report.outcomes)) outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
  process.stdout.write(`${operations} operations, seed ${seed + round}: ${JSON.stringify(outcomes)}\n`);
  if (report.faults.length === 0) continue;
  process.stderr.write(`${report.faults.join('\n\n')}\n`);
  process.exitCode = 1;
}
