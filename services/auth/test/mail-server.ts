import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A mail that a server took, whole as it was sent. */
interface TakenMail {
  readonly to: string;
  readonly raw: string;
}

interface MailServer extends AsyncDisposable {
  readonly port: number;
  readonly taken: TakenMail[];
}

/** A real mail server, with what a test changes about it. */
export async function openMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const taken: TakenMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: options.key === undefined ? ['STARTTLS'] : [],
    allowInsecureAuth: true,
    onData: (stream, { envelope }, callback) => {
      void (async () => {
        const raw = await text(stream);
        for (const { address } of envelope.rcptTo) taken.push({ to: address, raw });
        callback();
      })();
    },
    ...options,
  });
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return {
    port: (listening.address() as AddressInfo).port,
    taken,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** An answer to an error of a mail server, with its code. */
export function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

/** The commands of a conversation, in order; `.` is the end of the message. */
export const STEPS = ['greeting', 'EHLO', 'MAIL', 'RCPT', 'DATA', '.'] as const;

/** A server that never answers one step, or disconnects there. */
export async function openBrokenServer(step: (typeof STEPS)[number], fault: 'hangs' | 'drops'): Promise<MailServer> {
  const taken: TakenMail[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    let isData = false;
    let received = '';
    const answer = (at: string, line: string): void => {
      if (at !== step) socket.write(`${line}\r\n`);
      else if (fault === 'drops') socket.destroy();
    };
    answer('greeting', '220 test');
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      received += chunk;
      for (;;) {
        const end = isData ? received.indexOf('\r\n.\r\n') : received.indexOf('\r\n');
        if (end === -1) return;
        const part = received.slice(0, end);
        received = received.slice(end + (isData ? 5 : 2));
        if (isData) {
          isData = false;
          taken.push({ to: '', raw: part });
          answer('.', '250 taken');
          continue;
        }
        const command = part.slice(0, 4).toUpperCase();
        if (command === 'DATA') isData = true;
        answer(command, command === 'DATA' ? '354 go on' : command === 'QUIT' ? '221 bye' : '250 ok');
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    taken,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
