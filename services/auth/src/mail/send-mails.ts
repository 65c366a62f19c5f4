import { every, type BackgroundContext, type BackgroundWork } from '@wts/service-kit/background';
import type { Logger } from '@wts/service-kit/observe';
import type { SecretKeys } from '@wts/service-kit/sealing';
import { NO_VISITOR } from '../domain/security-event.ts';
import { AUTH_LIMITS } from '../limits.ts';
import type { SecurityRecord } from '../record/security-record.ts';
import { mailStore, type ClaimedMail, type MailBacklog, type MailOutcome, type MailStore } from '../store/mails.ts';
import { sealContent, unsealContent, type QueuedData, type QueuedKind } from './mailer.ts';
import { MailFault, type SendMessage } from './smtp.ts';
import { renderMail, type MailData, type MailKind } from './templates.ts';

/** What a mail says, by a kind that has a template. */
export type ReadyMail = {
  readonly [K in MailKind]: { readonly kind: K; readonly to: string; readonly data: MailData[K] };
}[MailKind];
export type PendingMail = {
  readonly [K in QueuedKind]: { readonly kind: K; readonly data: QueuedData[K] };
}[QueuedKind];

export interface MailWatch {
  onEnded(outcome: 'sent' | 'refused' | 'given-up' | 'failed'): void;
  onBacklog(backlog: MailBacklog): void;
}

interface SendingOptions {
  readonly mails: MailStore;
  readonly send: SendMessage;
  readonly secretKeys: SecretKeys;
  /** Makes a mail with a template of one that was only asked for; null when there is nothing to send. */
  readonly prepare: (mail: PendingMail, to: string) => Promise<ReadyMail | null>;
  readonly record: Pick<SecurityRecord, 'act'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly watch: MailWatch;
}

const EVERY_MS = 1_000;
const BACKLOG_EVERY_MS = 15_000;

/**
 * The way of a mail: a replica claims the one that waits longest, under a lease by the clock of the database; makes its text; speaks with the
 * mail server under deadlines; and writes the outcome, unless the lease ended and another replica tries it meanwhile. A mail whose server
 * took it and did not say so is sent again with the same Message-ID. Few are sent at once, each in a connection of its own, so a slow
 * one delays no other. After a failure it waits from 5 seconds to 6 hours, for a day in all. Keeps authentication.mail.queue.
 */
export function sendMails(context: BackgroundContext, options: SendingOptions): BackgroundWork {
  const { mails, watch } = options;
  const stopping = new AbortController();
  const sending = new Set<Promise<void>>();
  let backlogAtMs = -Infinity;
  const work = every(context, {
    name: 'mails',
    everyMs: EVERY_MS,
    failing: 'mails are not sent, because they cannot be read; trying again. Check PostgreSQL',
    run: async () => {
      if (performance.now() - backlogAtMs >= BACKLOG_EVERY_MS) {
        watch.onBacklog(await mails.backlog());
        backlogAtMs = performance.now();
      }
      while (sending.size < AUTH_LIMITS.mailsAtOnceMax && !stopping.signal.aborted) {
        const mail = await mails.claim(AUTH_LIMITS.mailLeaseMs);
        if (mail === null) return;
        const attempt = attemptMail(options, mail, stopping.signal).finally(() => {
          sending.delete(attempt);
          work.wake();
        });
        sending.add(attempt);
      }
    },
  });
  return {
    get isActive() {
      return work.isActive || sending.size > 0;
    },
    wake: () => work.wake(),
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await work[Symbol.asyncDispose]();
      await Promise.all(sending);
    },
  };
}

/** Never rejects: what is not written now is tried again when the lease ends. */
async function attemptMail(options: SendingOptions, mail: ClaimedMail, signal: AbortSignal): Promise<void> {
  const { mails, record, log, watch } = options;
  const { id, kind, userId, attempts } = mail;
  const about = { mail: id, mailKind: kind, attempt: attempts };
  try {
    const outcome = await outcomeOf(options, mail, signal);
    if (outcome === null) return await mails.delete(mail);
    const state = await record.act(async (act) => {
      const ended = await mailStore(act.transaction).finish(mail, outcome);
      if (ended === 'refused' || ended === 'given-up') {
        await act.record({
          kind: 'mail-not-sent',
          ...(userId === null ? {} : { userId }),
          subjectId: id,
          actor: { kind: 'system' },
          visitor: NO_VISITOR,
          details: { mail: kind },
        });
      }
      return ended;
    });
    if (state === null) return;
    watch.onEnded(state === 'waiting' ? 'failed' : state);
    if (state === 'sent') return log.info(about, 'a mail was sent');
    if (state === 'waiting') return log.info(about, 'a mail was not sent yet; it is tried again');
    log.warn(about, 'a mail was not sent; auth.mails has the reason');
  } catch (err) {
    log.warn({ ...about, err }, 'the outcome of a mail was not written; it is tried again when its lease ends');
  }
}

/** Null when there is nothing to send. */
async function outcomeOf(options: SendingOptions, mail: ClaimedMail, signal: AbortSignal): Promise<MailOutcome | null> {
  try {
    const ready = await readyOf(options, mail);
    if (ready === null) return null;
    const { id, createdAt } = mail;
    await options.send({ id, to: ready.to, createdAt, ...render(ready) }, signal);
    return { state: 'sent', reason: null };
  } catch (failure) {
    if (failure instanceof MailFault && failure.isFinal) return { state: 'refused', reason: failure.message };
    const reason = failure instanceof MailFault ? failure.message : 'its text could not be made';
    return { state: 'failed', reason, retryAfterMs: retryAfterMsOf(mail.attempts) };
  }
}

async function readyOf({ mails, secretKeys, prepare }: SendingOptions, mail: ClaimedMail): Promise<ReadyMail | null> {
  const pending = { kind: mail.kind, data: unsealContent(secretKeys, mail.id, mail) } as PendingMail;
  const ready = await prepare(pending, mail.recipient);
  // The next attempt must say the same: a link that was made is made once.
  if (ready !== null && ready.kind !== pending.kind) {
    await mails.rewrite(mail, {
      kind: ready.kind,
      recipient: ready.to,
      ...sealContent(secretKeys, mail.id, ready.data),
    });
  }
  return ready;
}

function render<K extends MailKind>({ kind, data }: { readonly kind: K; readonly data: MailData[K] }) {
  return renderMail(kind, data);
}

const RETRY_FIRST_MS = 5_000;
const RETRY_FACTOR = 4;
const RETRY_MAX_MS = 6 * 60 * 60_000;

/** Up to a fifth more or less, so that mails which failed together do not come together again. */
export function retryAfterMsOf(attempts: number, random: () => number = Math.random): number {
  const plain = Math.min(RETRY_FIRST_MS * RETRY_FACTOR ** (attempts - 1), RETRY_MAX_MS);
  return plain * (0.8 + 0.4 * random());
}
