import type { BackgroundWork } from '@wts/service-kit/background';
import type { ServiceContext } from '@wts/service-kit/life';
import { parseSecretKeys } from '@wts/service-kit/sealing';
import type { Knex } from 'knex';
import type { Config } from '../config.ts';
import { parseSender, parseSmtpUrl } from '../domain/smtp-setting.ts';
import type { SecurityRecord } from '../record/security-record.ts';
import { mailStore } from '../store/mails.ts';
import { openMailer, type Mailer } from './mailer.ts';
import { openNotices, type Notices } from './notices.ts';
import { mailMetrics } from './metrics.ts';
import { preparerOf } from './prepare-mail.ts';
import { sendMails } from './send-mails.ts';
import { openSmtp } from './smtp.ts';

interface MailOptions {
  readonly kit: ServiceContext;
  readonly config: Config;
  readonly knex: Knex;
  /** AUTH_URL without a trailing slash. */
  readonly issuer: string;
}

export interface Mail {
  readonly mailer: Mailer;
  readonly notices: Notices;
  /** Begins to send what waits, and writes into the record what could not be sent. */
  start(record: SecurityRecord): void;
}

/** The queue of mails, and the work that sends them. Without SMTP_URL nothing is queued, and what waits keeps waiting. */
export function openMail({ kit, config, knex, issuer }: MailOptions): Mail {
  const { smtpUrl, mailFrom = `no-reply@${new URL(issuer).hostname}`, smtpExtraCaFile: caFile } = config;
  const secretKeys = parseSecretKeys(config.secretKey);
  let work: BackgroundWork | null = null;
  const mailer = openMailer({ knex, isOn: smtpUrl !== undefined, secretKeys, onAdded: () => work?.wake() });
  return {
    mailer,
    notices: openNotices({ knex, mailer, issuer }),
    start: (record) => {
      const watch = mailMetrics(kit.metrics);
      if (smtpUrl === undefined) return;
      const send = openSmtp({ server: parseSmtpUrl(smtpUrl), sender: parseSender(mailFrom), caFile });
      const prepare = preparerOf({ knex, record, issuer });
      const options = { mails: mailStore(knex), send, secretKeys, prepare, record, log: kit.log, watch };
      work = kit.stack.use(sendMails(kit, options));
    },
  };
}
