import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { openMailPage, type CaughtMail } from './page.ts';

/** A mail that a service sent. */
/** Takes every mail and delivers none. For development and tests only: anyone on this machine reads what it has. */
export interface MailCatcher extends AsyncDisposable {
  /** For the setting SMTP_URL. */
  readonly smtpUrl: string;
  /** Its page for people; `/messages` of it lists the mails as JSON. */
  readonly url: string;
  /** Oldest first. */
  readonly mails: readonly CaughtMail[];
}

const MAIL_BYTES_MAX = 1024 * 1024;
/** Beyond these the oldest go: the process of `npm start` must not grow. */
const MAILS_MAX = 200;
const ALL_BYTES_MAX = 16 * 1024 * 1024;
const CLIENTS_MAX = 20;
const LINK = /https?:\/\/[^\s<>"]+/g;

export async function openMailCatcher({ port = 0 }: { readonly port?: number } = {}): Promise<MailCatcher> {
  // Loaded here only: most tests need no mail.
  const [{ SMTPServer }, { default: PostalMime }] = await Promise.all([import('smtp-server'), import('postal-mime')]);
  await using opening = new AsyncDisposableStack();
  const mails: (CaughtMail & { readonly bytes: number })[] = [];
  const changes = new EventEmitter();
  let caught = 0;
  const add = async (raw: Buffer): Promise<void> => {
    const { messageId = '', from, to, subject = '', text = '', html = '' } = await PostalMime.parse(raw);
    mails.push({
      id: (caught += 1),
      receivedAt: new Date().toISOString(),
      messageId,
      from: from?.address ?? '',
      to: (to ?? []).map(({ address = '' }) => address).join(', '),
      subject,
      text,
      html,
      links: text.match(LINK) ?? [],
      bytes: raw.length,
    });
    const total = (): number => mails.reduce((sum, { bytes }) => sum + bytes, 0);
    while (mails.length > MAILS_MAX || total() > ALL_BYTES_MAX) mails.shift();
    changes.emit('mail');
  };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    size: MAIL_BYTES_MAX,
    maxClients: CLIENTS_MAX,
    onData: (stream, _session, callback) => {
      void (async () => {
        try {
          await add(await readBounded(stream));
          callback();
        } catch (error) {
          callback(error as Error);
        }
      })();
    },
  });
  // A client that disconnects in the middle is no fault of this process.
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  opening.defer(() => new Promise<void>((resolve) => server.close(() => resolve())));
  await once(listening, 'listening');
  const page = opening.use(await openMailPage({ port, mails, changes }));
  const stack = opening.move();
  return {
    smtpUrl: `smtp://127.0.0.1:${(listening.address() as AddressInfo).port}`,
    url: page.url,
    mails,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Reads to the end, so that the client gets an answer, but stores no more than the bound. */
async function readBounded(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAIL_BYTES_MAX) chunks.push(chunk);
  }
  if (bytes > MAIL_BYTES_MAX) throw Object.assign(new Error('the mail is too large'), { responseCode: 552 });
  return Buffer.concat(chunks);
}
