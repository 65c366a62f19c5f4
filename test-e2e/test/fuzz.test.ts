import type { Person, TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Description } from '../fuzz/description.ts';
import { fuzz } from '../fuzz/fuzz.ts';
import { existingIds, existingRecords, strangersRecords } from '../fuzz/existing-ids.ts';
import { fuzzGraphql } from '../fuzz/graphql-fuzz.ts';
import { sharedSystem } from './shared-system.ts';

/** Texts that are no UUIDs, some of them nearly. */
const NO_UUIDS = [
  'x',
  '1',
  'null',
  '018f2a3b6c1d7e009a003f5b8e7d2c10',
  '018f2a3b-6c1d-7e00-9a00-3f5b8e7d2c1',
  '018f2a3b-6c1d-7e00-9a00-3f5b8e7d2c10x',
  '018f2a3b-6c1d-7e00-9a00-3f5b8e7d2c1g',
  '{018f2a3b-6c1d-7e00-9a00-3f5b8e7d2c10}',
  'urn:uuid:018f2a3b-6c1d-7e00-9a00-3f5b8e7d2c10',
  '018f2a3b-6c1d-7e00-9a00-3f5b8e7d2c10%0a',
  "'%20or%20true--",
] as const;

describe('every operation of the description', () => {
  let testSystem: TestSystem;
  let fuzzer: Person;
  before(async function start() {
    testSystem = await sharedSystem();
    fuzzer = await testSystem.person('Fuzzer');
  });

  it('answers any input as described, and never with 5xx [never.500-by-input, meta.openapi.complete]', async function all() {
    const known = await existingIds(testSystem, fuzzer);
    const report = await fuzz({
      baseUrl: testSystem.baseUrl,
      token: fuzzer.token,
      seed: 20_261_121,
      runsPerOperation: 6,
      known,
    });
    assert.deepEqual(report.faults, []);
    // The requests got past the first checks: there are successes and refusals of every kind.
    for (const status of [200, 201, 400, 404]) assert.ok((report.statuses[status] ?? 0) > 0, String(status));
  });

  it('of the GraphQL schema answers with data or with errors of the closed list, and shows nothing of a stranger [graphql.fuzzed, never.500-by-input, never.shown-outside]', async function all() {
    const person = await testSystem.person('Fuzzer of GraphQL');
    const known = await existingIds(testSystem, person);
    const report = await fuzzGraphql({
      baseUrl: testSystem.baseUrl,
      token: (await testSystem.appOf(person, 'read write')).accessToken,
      seed: 20_261_123,
      operations: 150,
      known: [...known, ...(await existingRecords(testSystem, known[0] ?? '', 'Fuzz')).map(({ id }) => id)],
      strange: await strangersRecords(testSystem),
    });
    assert.deepEqual(report.faults, []);
    for (const outcome of ['data', 'BAD_USER_INPUT', 'VALIDATION_FAILED', 'PARSE_FAILED', 'NOT_FOUND'])
      assert.ok((report.outcomes[outcome] ?? 0) > 0, JSON.stringify(report.outcomes));
    assert.ok((report.outcomes['data'] ?? 0) > report.operations / 4, JSON.stringify(report.outcomes));
  });

  it('accepts only UUIDs as ids in its path, and names the parameter that is none [meta.paths.uuids]', async () => {
    const document = (await testSystem.request(null, 'GET', '/openapi.json')).json();
    const { operations } = new Description(document);
    let tried = 0;
    for (const { id, method, path, parameters } of operations) {
      for (const { name } of parameters.filter((one) => one.in === 'path' && one.schema['format'] === 'uuid')) {
        // One text for each, because all are of the same format.
        const wrong = NO_UUIDS[tried % NO_UUIDS.length] ?? '';
        const filled = path.replaceAll(/\{(\w+)\}/g, (_, other: string) => (other === name ? wrong : randomUUID()));
        const { status, json } = await testSystem.request(fuzzer.token, method, filled);
        const refusal = json() as { code?: string; message?: string };
        // The gateway refuses line ends in any part of a request.
        const code = wrong.includes('%0a') ? 'malformed_request' : 'validation_failed';
        assert.equal(`${status} ${refusal.code}`, `400 ${code}`, `${id} ${filled}`);
        if (code === 'validation_failed') assert.match(refusal.message ?? '', new RegExp(`^path/${name} `));
        tried += 1;
      }
    }
    assert.ok(tried >= 2 * NO_UUIDS.length, String(tried));
  });
});
