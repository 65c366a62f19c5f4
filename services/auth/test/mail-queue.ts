import { createLogger } from '@wts/service-kit/observe';
import type { BackgroundWork } from '@wts/service-kit/background';
import { parseSecretKeys } from '@wts/service-kit/sealing';
import { rows } from '@wts/service-kit/postgres';
import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { Registry } from 'prom-client';
import { openMailer, type Mailer } from '../src/mail/mailer.ts';
import { mailMetrics } from '../src/mail/metrics.ts';
import { preparerOf } from '../src/mail/prepare-mail.ts';
import { sendMails } from '../src/mail/send-mails.ts';
import { openSmtp } from '../src/mail/smtp.ts';
import { parseSmtpUrl, type SmtpSetting } from '../src/domain/smtp-setting.ts';
import { openTestRecord } from './store.ts';
import { mailStore } from '../src/store/mails.ts';

const ISSUER = 'https://auth.example';
const secretKeys = parseSecretKeys(randomBytes(32).toString('base64'));

export interface MailRow {
  readonly state: string;
  readonly attempts: number;
  readonly reason: string | null;
  readonly hasContent: boolean;
}

interface SenderOptions {
  readonly caFile?: string;
  readonly stepMs?: number;
  readonly tls?: SmtpSetting['tls'];
}

/** A queue of mails on a real PostgreSQL, and any number of replicas that send them. */
export class MailQueue {
  readonly knex: Knex;
  readonly mailer: Mailer;
  readonly metrics = new Registry();
  readonly #watch = mailMetrics(this.metrics);
  /** Of the log of all replicas. */
  readonly lines: string[] = [];

  constructor(knex: Knex) {
    this.knex = knex;
    this.mailer = openMailer({ knex, isOn: true, secretKeys, onAdded: () => undefined });
  }

  /** A replica that sends by this server. */
  sender(smtpUrl: string, options: SenderOptions = {}): BackgroundWork {
    const log = createLogger({ name: 'test', destination: { write: (line: string) => void this.lines.push(line) } });
    const record = openTestRecord(this.knex);
    const server = parseSmtpUrl(smtpUrl);
    const metrics = new Registry();
    const context = { name: 'auth', log, metrics, readiness: { addBackground: () => undefined } };
    return sendMails(context, {
      mails: mailStore(this.knex),
      send: openSmtp({
        server: { ...server, tls: options.tls ?? server.tls },
        sender: { name: 'Tasks', address: 'tasks@example.com' },
        ...options,
      }),
      secretKeys,
      prepare: preparerOf({ knex: this.knex, record, issuer: ISSUER }),
      record,
      log,
      watch: this.#watch,
    });
  }

  /** Queues a mail with a secret in it. */
  async add(to: string): Promise<void> {
    const url = 'https://auth.example/link?token=wtsm_0123456789';
    await this.mailer.add({ kind: 'verify-address', to, data: { url, name: 'Ada' } });
  }

  async of(to: string): Promise<MailRow> {
    const sql = `select state, attempts, reason, content is not null as "hasContent" from auth.mails where recipient = :to`;
    const [row] = await rows<MailRow>(this.knex, sql, { to });
    if (row === undefined) throw new Error(`no mail for ${to}`);
    return row;
  }

  /** Makes a mail older, and due. */
  async age(to: string, seconds: number): Promise<void> {
    const sql = `update auth.mails set created_at = created_at - make_interval(secs => :seconds),
      ends_at = ends_at - make_interval(secs => :seconds), next_at = now() where recipient = :to`;
    await rows(this.knex, sql, { to, seconds });
  }
}
