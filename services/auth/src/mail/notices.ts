import type { Knex } from 'knex';
import { sentenceOf, type SecurityEvent } from '../domain/security-event.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { makeLink } from '../links/make-link.ts';
import { identityStore } from '../store/identities.ts';
import { mailLinkStore } from '../store/mail-links.ts';
import { mailStore } from '../store/mails.ts';
import { factorsOf } from '../store/second-factors.ts';
import type { Mailer, QueuedMail } from './mailer.ts';
import { quoted, type MailKind } from './templates.ts';

export interface Notices {
  /** For the security record: mails what a person should know about an event. */
  readonly onEvent: (transaction: Knex, event: SecurityEvent) => Promise<void>;
  /** Mails something to a person at a verified address; one without such an address gets none. */
  readonly send: <K extends MailKind>(
    userId: string,
    notice: Pick<QueuedMail<K>, 'kind' | 'data'>,
    transaction?: Knex,
  ) => Promise<void>;
}

interface NoticeOptions {
  readonly knex: Knex;
  readonly mailer: Mailer;
  readonly issuer: string;
}

/**
 * Notices about an account. Only an address that its person proved gets them: another one may be of another person. One person gets a bounded
 * number in an hour. Keeps authentication.mail.notices.
 */
export function openNotices({ knex, mailer, issuer }: NoticeOptions): Notices {
  const addressFor = async (transaction: Knex, userId: string, most: number): Promise<string | undefined> => {
    if (!mailer.isOn) return undefined;
    const [to] = await identityStore(transaction).addressesOf(userId);
    const recent = to === undefined ? 0 : await mailStore(transaction).countOf(userId, AUTH_LIMITS.mailsAskedWindowMs);
    return recent < most ? to : undefined;
  };
  const send: Notices['send'] = async (userId, { kind, data }, transaction = knex) => {
    const to = await addressFor(transaction, userId, AUTH_LIMITS.noticesOfPersonMax);
    if (to !== undefined) await mailer.add({ kind, to, userId, data }, transaction);
  };
  /**
   * Who only knows a password can add the only second factor of an account, and would keep its owner out: the owner's mailbox gets the account
   * back. Keeps authentication.factors.take-back.
   */
  const sendTakeBack = async (transaction: Knex, { userId, accountId }: Owner, what: string): Promise<void> => {
    const address = await addressFor(transaction, userId, AUTH_LIMITS.noticesWithTakeBackMax);
    if (address === undefined) return;
    const link = { kind: 'take-back', accountId, address, lifeMs: AUTH_LIMITS.takeBackLinkMs } as const;
    const { url } = await makeLink({ links: mailLinkStore(transaction), issuer }, link);
    await mailer.add({ kind: 'only-factor-added', to: address, userId, data: { url, what } }, transaction);
  };
  return {
    send,
    onEvent: async (transaction, event) => {
      const { userId, actor } = event;
      if (userId === undefined || actor?.kind === 'system') return;
      if (event.kind === 'key-created') {
        const { label, access } = event.details;
        const data = { url: `${issuer}/account/keys`, label: label ?? '', access: access ?? '' };
        await send(userId, { kind: 'key-created', data }, transaction);
      } else if (event.kind === 'password-changed' || event.kind === 'password-reset') {
        await send(userId, { kind: 'password-changed', data: { url: `${issuer}/forgot-password` } }, transaction);
      } else if (FACTOR_EVENTS.has(event.kind)) {
        const what = sentenceOf(event).map(({ text, isValue }) => (isValue ? quoted(text) : text));
        const said = `${what.join('')}.`;
        const { accountId } = event;
        if (event.kind === 'factor-added' && accountId && (await hasOneFactor(transaction, accountId))) {
          await sendTakeBack(transaction, { userId, accountId }, said);
        } else {
          const data = { url: `${issuer}/account/security`, what: said };
          await send(userId, { kind: 'second-factor-changed', data }, transaction);
        }
      }
    },
  };
}

interface Owner {
  readonly userId: string;
  readonly accountId: string;
}

async function hasOneFactor(transaction: Knex, accountId: string): Promise<boolean> {
  const { passkeys, totpSince } = await factorsOf(transaction, accountId);
  return passkeys.length + (totpSince === null ? 0 : 1) === 1;
}

/** Of second factors. */
const FACTOR_EVENTS: ReadonlySet<string> = new Set([
  'factor-added',
  'factor-removed',
  'recovery-code-used',
  'recovery-codes-made',
]);
