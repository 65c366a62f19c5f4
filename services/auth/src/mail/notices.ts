import type { Knex } from 'knex';
import { sentenceOf, type SecurityEvent } from '../domain/security-event.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { identityStore } from '../store/identities.ts';
import { mailStore } from '../store/mails.ts';
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
  const send: Notices['send'] = async (userId, { kind, data }, transaction = knex) => {
    if (!mailer.isOn) return;
    const [to] = await identityStore(transaction).addressesOf(userId);
    if (to === undefined) return;
    const recent = await mailStore(transaction).countOf(userId, AUTH_LIMITS.mailsAskedWindowMs);
    if (recent < AUTH_LIMITS.noticesOfPersonMax) await mailer.add({ kind, to, userId, data }, transaction);
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
        const data = { url: `${issuer}/account/security`, what: `${what.join('')}.` };
        await send(userId, { kind: 'second-factor-changed', data }, transaction);
      }
    },
  };
}

/** Of second factors. */
const FACTOR_EVENTS: ReadonlySet<string> = new Set([
  'factor-added',
  'factor-removed',
  'recovery-code-used',
  'recovery-codes-made',
]);
