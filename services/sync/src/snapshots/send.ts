import { acceptsGzip, ClientConnection, ClientGoneError } from '@wts/service-kit/http';
import type { Request, Response } from 'express';
import { gzipHead, gzipTail } from './gzip.ts';
import type { Encoding, SpooledSnapshot, SnapshotReader } from './spooled-snapshot.ts';

type Source = Pick<SpooledSnapshot, 'read' | 'turn' | 'encoding' | 'content' | 'stalledMs'>;

/**
 * Sends the first line and then the whole snapshot, at the pace of the client. The connection of a client that receives
 * nothing for too long is closed. When reading the snapshot fails, the answer stops after an error line and the end of the
 * body is never sent, so no client can take it for complete. Keeps sync.bootstrap.ndjson and sync.bootstrap.pace.
 */
export async function sendSnapshot(
  res: Response,
  { snapshot, reader }: { readonly snapshot: Source; readonly reader: SnapshotReader },
  firstLine: string,
): Promise<void> {
  const head = Buffer.from(firstLine);
  const isGzip = snapshot.encoding === 'gzip';
  if (isGzip) res.setHeader('content-encoding', 'gzip');
  startNdjson(res);
  const client = new ClientConnection(res, () => snapshot.stalledMs);
  try {
    // Node sends writes of one turn of the event loop together.
    const opening = isGzip ? gzipHead(head) : head;
    if (opening.length > 0 && !res.write(opening)) await client.drained();
    for (;;) {
      const next = snapshot.read(reader);
      const bytes = next instanceof Promise ? await client.unlessGone(next) : next;
      if (bytes === null) break;
      const turn = snapshot.turn(reader, bytes.length);
      if (turn) await client.unlessGone(turn);
      if (!res.write(bytes)) await client.drained();
    }
    res.end(isGzip ? gzipTail(head, snapshot.content) : undefined);
    await client.closed();
  } catch (error) {
    if (!(error instanceof ClientGoneError)) closeEarly(res, snapshot.stalledMs);
  }
}

/** Sends a short answer. */
export function sendLines(res: Response, lines: string): void {
  res.setHeader('content-length', Buffer.byteLength(lines));
  startNdjson(res);
  res.end(lines);
}

function startNdjson(res: Response): void {
  res.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store', vary: 'accept-encoding' });
}

export function chooseEncoding({ headers }: Request): Encoding {
  return acceptsGzip(headers['accept-encoding']) ? 'gzip' : 'identity';
}

/** Sends what was written, then closes the connection in the middle of the body. */
function closeEarly(res: Response, stalledMs: number): void {
  const { socket } = res;
  if (socket === null) return;
  const stalled = setTimeout(() => socket.destroy(), stalledMs);
  socket.once('close', () => clearTimeout(stalled));
  // Node flushes the writes of this turn of the event loop at its end.
  setImmediate(() => socket.destroySoon());
}
