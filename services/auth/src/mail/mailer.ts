import { randomUUID } from 'node:crypto';
import { sealSecret, unsealSecret, type SealedSecret, type SecretKeys } from '@wts/service-kit/sealing';
import type { Knex } from 'knex';
import type { Visitor } from '../domain/security-event.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { mailStore } from '../store/mails.ts';
import type { MailData } from './templates.ts';

/** Kinds that become another kind at the first attempt, when it is looked up whether the address has an account. */
export interface AskedData {
  'reset-asked': { readonly visitor: Visitor };
  'registration-asked': MailData['registration'] & { readonly signInUrl: string };
}

export type QueuedData = MailData & AskedData;
export type QueuedKind = keyof QueuedData;

export interface QueuedMail<K extends QueuedKind> {
  readonly kind: K;
  readonly to: string;
  /** The person whom it is about. */
  readonly userId?: string | undefined;
  readonly data: QueuedData[K];
}

/** Puts mails into the queue. The way of a mail from there: `send-mails.ts`. */
export interface Mailer {
  /** False without SMTP_URL, where `add` does nothing. */
  readonly isOn: boolean;
  /** In the transaction of what it is about, where there is one. False when it is off, or when too many mails wait. */
  add<K extends QueuedKind>(mail: QueuedMail<K>, transaction?: Knex): Promise<boolean>;
}

interface MailerOptions {
  readonly knex: Knex;
  readonly isOn: boolean;
  readonly secretKeys: SecretKeys;
  readonly onAdded: () => void;
}

/** Those whose link does not work longer anyway. */
const LIVES_MS: Partial<Readonly<Record<QueuedKind, number>>> = { 'reset-asked': AUTH_LIMITS.resetLinkMs };

export function openMailer({ knex, isOn, secretKeys, onAdded }: MailerOptions): Mailer {
  return {
    isOn,
    add: async ({ kind, to, userId = null, data }, transaction = knex) => {
      if (!isOn) return false;
      const id = randomUUID();
      const content = sealContent(secretKeys, id, data);
      const lifeMs = LIVES_MS[kind] ?? AUTH_LIMITS.mailMs;
      const isAdded = await mailStore(transaction).insert({ id, kind, recipient: to, userId, ...content, lifeMs });
      onAdded();
      return isAdded;
    },
  };
}

export function sealContent(keys: SecretKeys, id: string, data: QueuedData[QueuedKind]): SealedSecret {
  return sealSecret(keys, id, Buffer.from(JSON.stringify(data)));
}

export function unsealContent(keys: SecretKeys, id: string, content: SealedSecret): QueuedData[QueuedKind] {
  return JSON.parse(unsealSecret(keys, id, content).toString()) as QueuedData[QueuedKind];
}
