import { randomBytes, randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { NO_VISITOR } from '../src/domain/security-event.ts';
import { sessionStore } from '../src/store/sessions.ts';

/** The id of a session in which the person is signed in. */
export async function browserSession(knex: Knex, userId: string): Promise<string> {
  const id = randomUUID();
  await sessionStore(knex, { hasAccounts: true }).insert({
    id,
    secretHash: randomBytes(32),
    userId,
    account: null,
    visitor: NO_VISITOR,
  });
  return id;
}
