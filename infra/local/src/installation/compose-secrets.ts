import { makeAuthority } from '../certificates.ts';
import { newSecrets } from './new-secrets.ts';
import { newPassword } from './rotations.ts';
import type { SecretValues } from './secrets-file.ts';

const CERTIFICATE_DAYS = 365;

/** What infra/compose.yaml needs: the secrets of an installation with its stores, and what its PostgreSQL and its edge need. */
export async function composeSecrets(host: string): Promise<SecretValues> {
  const authority = await makeAuthority('Workspace Task Service', CERTIFICATE_DAYS);
  const { cert, key } = await authority.issue({ hosts: [host] });
  return {
    ...newSecrets({ database: 'postgres://postgres:5432/wts', nats: 'nats://nats:4222' }),
    POSTGRES_PASSWORD: newPassword(),
    TLS_PEM_BASE64: inOneLine(`${cert}\n${key}`),
    // For clients, which trust it.
    TLS_CA_BASE64: inOneLine(`${authority.certificate}\n`),
  };
}

/** Programs differ in how they read a value of several lines. */
function inOneLine(text: string): string {
  return Buffer.from(text).toString('base64');
}
