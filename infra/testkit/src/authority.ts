import { makeAuthority, type Authority } from '@wts/local';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from './scratch.ts';

export interface TestAuthority extends Authority {
  /** The certificate as a file, for settings that name one. */
  readonly caFile: string;
}

export async function testAuthority(): Promise<TestAuthority> {
  const authority = await makeAuthority('Test authority');
  const caFile = join(scratch('authority'), 'ca.pem');
  writeFileSync(caFile, authority.certificate);
  return { ...authority, caFile };
}
