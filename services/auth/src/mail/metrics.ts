import { Counter, Gauge, type Registry } from 'prom-client';
import type { MailWatch } from './send-mails.ts';

/** What the sending of mails shows. Each replica reads the backlog, which is the same for all. */
export function mailMetrics(registry: Registry): MailWatch {
  const registers = [registry];
  const attempts = new Counter({
    name: 'wts_mail_attempts_total',
    help: 'Attempts to send a mail, by outcome: sent, failed (it is tried again), refused by the mail server, given up.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const waiting = new Gauge({ name: 'wts_mails_waiting', help: 'Mails that wait for the mail server.', registers });
  const oldest = new Gauge({ name: 'wts_mails_oldest_seconds', help: 'How long the oldest of them waits.', registers });
  return {
    onEnded: (outcome) => attempts.inc({ outcome }),
    onBacklog: (backlog) => {
      waiting.set(backlog.waiting);
      oldest.set(backlog.oldestSeconds);
    },
  };
}
