import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { ListedDelivery } from '../store/deliveries.ts';

/** Texts of events that are in memory at a time, beside one that is larger. */
const TEXTS_BYTES_MAX = 256 * 1024;
/** A client that reads nothing for so long has its connection closed. */
const READ_TIMEOUT_MS = 20_000;

interface Sending {
  readonly bodies: (deliveries: readonly ListedDelivery[]) => Promise<readonly (string | null)[]>;
  readonly signal: AbortSignal;
}

/**
 * Writes a page of deliveries. The texts of the events are read in small parts and written as they are stored, each part
 * after the client has taken the one before: a page may be tens of megabytes, and clients may read slowly. A delivery that was removed
 * meanwhile with its event is left out.
 */
export async function sendDeliveries(
  res: ServerResponse,
  page: readonly ListedDelivery[],
  { bodies, signal }: Sending,
): Promise<void> {
  res.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  res.write('{"ok":true,"deliveries":[');
  let separator = '';
  for (const part of partsOf(page)) {
    const texts = await bodies(part);
    const written = part.flatMap(({ delivery }, index) => {
      const text = texts[index] ?? null;
      return text === null ? [] : [`${JSON.stringify(delivery).slice(0, -1)},"payload":${text}}`];
    });
    if (written.length === 0) continue;
    if (!res.write(separator + written.join(','))) await drained(res, signal);
    separator = ',';
  }
  res.end(']}');
}

async function drained(res: ServerResponse, signal: AbortSignal): Promise<void> {
  await once(res, 'drain', { signal: AbortSignal.any([signal, AbortSignal.timeout(READ_TIMEOUT_MS)]) });
}

function partsOf(page: readonly ListedDelivery[]): ListedDelivery[][] {
  const parts: ListedDelivery[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const listed of page) {
    if (bytes + listed.bodyBytes > TEXTS_BYTES_MAX) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(listed);
    bytes += listed.bodyBytes;
  }
  return parts;
}
