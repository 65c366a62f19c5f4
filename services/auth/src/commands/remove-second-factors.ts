import { Fault } from '@wts/contracts';
import type { Context } from '../context.ts';
import type { Operator } from './disable-person.ts';

interface Owner {
  readonly userId: string;
  /** Null without an account. */
  readonly accountId: string | null;
}

/**
 * Removes what a person lost, recovery codes included. Where a second factor is required of them, the next sign-in leads to a new one. Keeps
 * operator.factors.remove.
 */
export async function removeSecondFactors(
  { record }: Pick<Context, 'record'>,
  { userId, accountId }: Owner,
  operator: Operator,
): Promise<void> {
  await record.act(async ({ factors, record: write }) => {
    const { passkeys, totpSince } = accountId === null ? NONE : await factors.of(accountId);
    const ids = [...passkeys.map(({ id }) => id), ...(totpSince === null ? [] : [null])];
    if (accountId === null || ids.length === 0)
      throw new Fault('not_found', { message: 'This person has no second factor here.' });
    for (const id of ids) await factors.remove(accountId, id);
    await write({ kind: 'factor-removed', userId, accountId, ...operator, details: { factor: 'all second factors' } });
  });
}

const NONE = { passkeys: [], totpSince: null };
