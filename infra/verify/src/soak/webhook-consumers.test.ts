import { scratch } from '@wts/testkit';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { arrivalsIn } from './webhook-consumers.ts';

describe('the log of the consumers', () => {
  it('is read as it was written, with every character and longer than one chunk', async () => {
    const file = join(scratch('arrivals'), 'arrivals.jsonl');
    const written = Array.from({ length: 2_000 }, (_, index) => ({
      body: `${index} \u2028\u2029\r\n\u0085 Ärger 💾 `.repeat(5),
    }));
    writeFileSync(file, written.map((one) => `${JSON.stringify(one)}\n`).join(''));
    assert.deepEqual(await Array.fromAsync(arrivalsIn(file)), written);
  });
});
