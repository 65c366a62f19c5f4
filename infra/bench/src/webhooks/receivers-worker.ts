import type { Identity } from '@wts/local';
import { createServer, type AddressInfo } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { wallClockOffset } from '../clock.ts';
import { serveCommands } from '@wts/testkit/worker';

export type ReceiversCommand =
  /** Opens so many receivers, each with an origin of its own; returns their URLs. */
  | { readonly do: 'open'; readonly count: number; readonly identity: Identity }
  /** From now on the receivers from this one on do not answer. */
  | { readonly do: 'hangFrom'; readonly nth: number }
  /** Returns the requests since the last call. */
  | { readonly do: 'take' };

export interface Arrival {
  /** Of the receiver. */
  readonly nth: number;
  /** By the wall clock. */
  readonly atMs: number;
  /** The position in the log; null in an event without one. */
  readonly position: number | null;
  readonly modelId: string;
}

const ANSWER = 'HTTP/1.1 204 No Content\r\n\r\n';
const HEAD_END = '\r\n\r\n';
const offsetMs = wallClockOffset();
const nthOf = new Map<number, number>();
let hangFrom = Infinity;
let arrivals: Arrival[] = [];

serveCommands(async (command: ReceiversCommand) => {
  if (command.do === 'open') return open(command.count, command.identity);
  if (command.do === 'hangFrom') {
    hangFrom = command.nth;
    return;
  }
  const taken = arrivals;
  arrivals = [];
  return taken;
});

async function open(count: number, identity: Identity): Promise<string[]> {
  const tls = createTlsServer({ ...identity }, serve);
  tls.on('tlsClientError', () => {});
  const urls: string[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const server = createServer((socket) => tls.emit('connection', socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    nthOf.set(port, nth);
    urls.push(`https://127.0.0.1:${port}/hook`);
  }
  return urls;
}

/** Without an HTTP server, because both cores are shared with what is measured. */
function serve(socket: TLSSocket): void {
  const nth = nthOf.get(socket.localPort ?? 0) ?? 0;
  let held = '';
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    held += chunk.toString('latin1');
    for (let end = endOfRequest(held); end !== null; end = endOfRequest(held)) {
      store(nth, held.slice(0, end));
      held = held.slice(end);
      if (nth < hangFrom) socket.write(ANSWER);
    }
  });
}

/** Null when the request is not complete. */
function endOfRequest(text: string): number | null {
  const headEnd = text.indexOf(HEAD_END);
  if (headEnd < 0) return null;
  const [, length = '0'] = /content-length: *(\d+)/i.exec(text.slice(0, headEnd)) ?? [];
  const end = headEnd + HEAD_END.length + Number(length);
  return text.length < end ? null : end;
}

function store(nth: number, request: string): void {
  const atMs = performance.now() + offsetMs;
  const [, position] = /"syncActionId":"(\d+)"/.exec(request) ?? [];
  const [, modelId = ''] = /"object":\{"id":"([^"]+)"/.exec(request) ?? [];
  arrivals.push({ nth, atMs, position: position === undefined ? null : Number(position), modelId });
}
