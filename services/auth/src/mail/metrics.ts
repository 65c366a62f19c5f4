import { metricsOf } from '@wts/service-kit/observe';
import type { Registry } from 'prom-client';
import type { MailWatch } from './send-mails.ts';

/** What the sending of mails shows. Each replica reads the backlog, which is the same for all. */
export function mailMetrics(registry: Registry): MailWatch {
  const { counter, gauge } = metricsOf(registry);
  const attempts = counter(
    'wts_mail_attempts_total',
    'Attempts to send a mail, by outcome: sent, failed (it is tried again), refused by the mail server, given up.',
    'outcome',
  );
  const waiting = gauge('wts_mails_waiting', 'Mails that wait for the mail server.');
  const oldest = gauge('wts_mails_oldest_seconds', 'How long the oldest of them waits.');
  return {
    onEnded: (outcome) => attempts.inc({ outcome }),
    onBacklog: (backlog) => {
      waiting.set(backlog.waiting);
      oldest.set(backlog.oldestSeconds);
    },
  };
}
