import { Fault, type OperatorPersonDetail } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import type { OperatorContext } from '../context.ts';
import { publishAllRevoked } from '../credentials/publish-revoked.ts';
import type { SecurityEvent } from '../domain/security-event.ts';

/** Who acts, and from where. */
export type Operator = Required<Pick<SecurityEvent, 'actor' | 'visitor'>>;

type DisableContext = Pick<OperatorContext, 'record' | 'disabled' | 'oauth' | 'revoke'>;

/**
 * Disables a person: first the row by which every look-up of a credential refuses them, then the end of what they have. So nothing that is
 * made meanwhile works. API keys stay, and work again when the person is enabled. Repeated, it ends what an interrupted run left.
 * Keeps operator.disable.everywhere.
 */
export async function disablePerson(context: DisableContext, userId: string, operator: Operator): Promise<void> {
  await context.record.act(async ({ disabled, record }) => {
    const isNew = await disabled.insert({ userId, id: randomUUID() });
    if (isNew) await record({ kind: 'person-disabled', userId, ...operator, details: {} });
  });
  await endAccess(context, userId, operator);
  await publishAllRevoked(context.revoke, userId);
}

/** A session or a grant that was being made while the person was disabled ends here, because it would work from now on. */
export async function enablePerson(context: DisableContext, userId: string, operator: Operator): Promise<void> {
  const found = await context.disabled.find(userId);
  if (found === null) return;
  if (found.isErased) throw new Fault('conflict', { message: 'This person is erased, and cannot be enabled.' });
  await endAccess(context, userId, operator);
  await context.record.act(async ({ disabled, record }) => {
    if (await disabled.delete(userId)) await record({ kind: 'person-enabled', userId, ...operator, details: {} });
  });
}

/** API keys and tokens of an identity provider stay: the person revokes keys, and a provider decides about its tokens. */
export async function endSessions(context: DisableContext, userId: string, operator: Operator): Promise<void> {
  await endAccess(context, userId, operator);
  await context.record.add({ kind: 'sessions-ended', userId, ...operator, details: {} });
}

/** Sessions first: an app gets no grant in a session that has ended. */
async function endAccess({ record, oauth }: DisableContext, userId: string, { visitor }: Operator): Promise<void> {
  await record.act(({ sessions }) => sessions.endAllOf(userId));
  await oauth.grants.revokeAllOf(userId, 'ended by the operator', visitor);
}

/** What is made for them could not work, and nothing else would say so. */
export function refuseDisabled({ disabledAt }: Pick<OperatorPersonDetail, 'disabledAt'>): void {
  if (disabledAt === null) return;
  throw new Fault('conflict', { message: 'This person is disabled. Enable them first: wts admin person enable.' });
}
