import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Everything that came, for answers that follow each other. */
  readonly text: string;
}

interface Raw {
  readonly port: number;
  readonly parts: readonly (string | Buffer)[];
  /** Ends our side after the last part. */
  readonly end?: boolean;
  /** Reads until one answer is whole, until its headers are, or until the server closes the connection. */
  readonly until?: 'answer' | 'head' | 'close';
  /** Sent again and again for as long as the server takes it. */
  readonly drip?: string;
}

const DEADLINE_MS = 60_000;
const DRIP_MS = 5;

/** Speaks to a server in bytes, the way no well-behaved client does. */
export async function raw({ port, parts, end = false, until = 'answer', drip }: Raw): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const deadline = setTimeout(() => reject(new Error(`not done: ${text}`)), DEADLINE_MS);
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    text += chunk;
    if (until === 'head' ? text.includes('\r\n\r\n') : until === 'answer' && isWhole(text)) resolve();
  });
  // A server that reads no further resets the connection after its reply.
  socket.on('error', () => resolve());
  socket.on('close', () => resolve());
  for (const part of parts) socket.write(part);
  if (end) socket.end();
  const dripping = drip === undefined ? undefined : setInterval(() => socket.write(drip), DRIP_MS);
  try {
    await promise;
  } finally {
    clearTimeout(deadline);
    clearInterval(dripping);
    socket.destroy();
  }
  return parse(text);
}

function isWhole(text: string): boolean {
  const last = text.slice(text.lastIndexOf('HTTP/1.1 '));
  const length = /content-length: (\d+)/i.exec(last)?.[1];
  const body = last.indexOf('\r\n\r\n');
  return length !== undefined && body !== -1 && last.length - body - 4 >= Number(length);
}

function parse(text: string): RawAnswer {
  const at = text.indexOf('\r\n\r\n');
  const [line = '', ...fields] = text.slice(0, at === -1 ? undefined : at).split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
    }),
  );
  return { status: Number(line.split(' ')[1]), headers, body: at === -1 ? '' : text.slice(at + 4), text };
}
