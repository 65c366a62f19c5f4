import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { createTransport } from 'nodemailer';
import type { NodemailerError } from 'nodemailer/lib/errors.js';
import type { Sender, SmtpSetting } from '../domain/smtp-setting.ts';
import { AUTH_LIMITS } from '../limits.ts';
import type { RenderedMail } from './templates.ts';

interface SmtpOptions {
  readonly server: SmtpSetting;
  readonly sender: Sender;
  /** Of the server, besides the public ones. */
  readonly caFile?: string | undefined;
  /** Only tests give another one. */
  readonly stepMs?: number;
}

export interface Message extends RenderedMail {
  /** The same in every attempt, so that a mail which arrives twice is recognized. */
  readonly id: string;
  readonly to: string;
  readonly createdAt: Date;
}

/** Why a mail was not sent. The text is for the operator. */
export class MailFault extends Error {
  /** Another attempt would get the same answer. */
  readonly isFinal: boolean;

  constructor(text: string, isFinal: boolean, cause: unknown) {
    super(text, { cause });
    this.isFinal = isFinal;
  }
}

export type SendMessage = (message: Message, signal: AbortSignal) => Promise<void>;

/** Each mail has a connection of its own, so that one which hangs delays no other. */
export function openSmtp({ server, sender, caFile, stepMs = AUTH_LIMITS.mailStepMs }: SmtpOptions): SendMessage {
  const { host, port, tls, auth } = server;
  const transport = createTransport({
    host,
    port,
    secure: tls === 'always',
    requireTLS: tls === 'required',
    ignoreTLS: tls === 'off',
    ...(auth === null ? {} : { auth }),
    ...(caFile === undefined ? {} : { tls: { ca: [...rootCertificates, readFileSync(caFile, 'utf8')] } }),
    dnsTimeout: stepMs,
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = sender.address.slice(sender.address.lastIndexOf('@') + 1);
  return async ({ id, to, createdAt, subject, text, html }, signal) => {
    try {
      await transport.sendMail({
        from: sender,
        to: { name: '', address: to },
        // Whatever the headers look like, the mail has one recipient.
        envelope: { from: sender.address, to: [to] },
        messageId: `<${id}@${domain}>`,
        date: createdAt,
        subject,
        text,
        html,
        // Mail programs do not answer it (RFC 3834).
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
        signal: AbortSignal.any([signal, AbortSignal.timeout(AUTH_LIMITS.mailAttemptMs)]),
      });
    } catch (failure) {
      throw faultOf(failure as NodemailerError);
    }
  };
}

const STEPS: Readonly<Record<string, string>> = {
  CONN: 'the connection',
  STARTTLS: 'the encryption',
  'MAIL FROM': 'the sender',
  'RCPT TO': 'the recipient',
  DATA: 'the message',
};

/**
 * Only what the server says for good about the recipient or the message ends a mail. A refusal of the connection, of the credentials or of the
 * sender is about the settings, which the operator can mend within the day.
 */
function faultOf(failure: NodemailerError): MailFault {
  const { command = '', permanent = false, responseCode, response, code, originalCode } = failure;
  const step = STEPS[command] ?? (command.startsWith('AUTH') ? 'the credentials' : 'the conversation');
  if (responseCode === undefined)
    return new MailFault(`the mail server could not be used (${originalCode ?? code ?? failure.name})`, false, failure);
  const isFinal = permanent && (command === 'RCPT TO' || command === 'DATA');
  return new MailFault(
    `the mail server refused ${step} (${plain(response ?? String(responseCode))})`,
    isFinal,
    failure,
  );
}

const RESPONSE_MAX = 200;

function plain(response: string): string {
  return response
    .toWellFormed()
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .slice(0, RESPONSE_MAX)
    .trim();
}
