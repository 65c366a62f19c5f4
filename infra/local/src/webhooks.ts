import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Identity } from './certificates.ts';

/** What the webhook dispatcher of this machine needs to deliver to receivers on this machine. */
export interface LocalWebhooks {
  /** The certificate that the dispatcher trusts beside the public ones. */
  readonly caFile: string;
  /** What a receiver such as `npm run listen` shows. */
  readonly receiver: Identity;
}

/** Development only: deliveries may go to receivers on this machine. */
export const LOOPBACK_CIDRS = '127.0.0.0/8,::1/128';

const DAYS = 365;
const RENEWED_BEFORE_MS = 30 * 86_400_000;

/**
 * An authority for development and one certificate of it for loopback, made at the first start and kept. The key of the
 * authority is not kept, so no other certificate can exist that the dispatcher of this machine trusts.
 */
export async function openLocalWebhooks(directory: string): Promise<LocalWebhooks> {
  const file = (name: string): string => join(directory, name);
  const caFile = file('ca.pem');
  const kept = readReceiver(file);
  if (kept !== null) return { caFile, receiver: kept };
  // Loaded here only, because loading takes longer than all other steps of a second start.
  const { makeAuthority } = await import('./certificates.ts');
  const authority = await makeAuthority('Workspace Task Service development', DAYS);
  const receiver = await authority.issue();
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(file('receiver-key.pem'), receiver.key, { mode: 0o600 });
  writeFileSync(file('receiver.pem'), receiver.cert);
  writeFileSync(caFile, authority.certificate);
  return { caFile, receiver };
}

/** Null when there is none, or when it ends soon. */
function readReceiver(file: (name: string) => string): Identity | null {
  try {
    const text = (name: string): string => readFileSync(file(name), 'utf8');
    const identity = { cert: text('receiver.pem'), key: text('receiver-key.pem') };
    const endsAt = Math.min(
      ...[text('ca.pem'), identity.cert].map((pem) => Date.parse(new X509Certificate(pem).validTo)),
    );
    return endsAt - Date.now() > RENEWED_BEFORE_MS ? identity : null;
  } catch {
    return null;
  }
}
