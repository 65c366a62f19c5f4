import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Not that of the testkit, whose packages use this one. `npm test` removes its folder also when it is killed.
const base = mkdtempSync(join(process.env['TEST_SCRATCH'] ?? tmpdir(), 'wts-cli-'));
process.once('exit', () => rmSync(base, { recursive: true, force: true }));

/** Creates a folder that is removed when this process ends. */
export function scratch(label: string): string {
  return mkdtempSync(join(base, `${label}-`));
}
