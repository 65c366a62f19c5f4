import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/** As PostgreSQL does by default. */
const ITERATIONS = 4096;

/** What PostgreSQL stores of a password (RFC 5803), for ALTER ROLE: so the password itself is in no log of the server. */
export function scramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const keyOf = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${keyOf('Server Key').toString('base64')}`;
}
