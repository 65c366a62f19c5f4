import { SyncError } from './error.ts';
import type { Http } from './http.ts';
import type { SnapshotRecord } from './records.ts';

/** Everything the caller may see, exactly as it is at `lastSyncId`. */
export interface Snapshot {
  readonly lastSyncId: string;
  /** All groups of the caller, their own first. */
  readonly subscribedSyncGroups: readonly string[];
  readonly databaseVersion: number;
  readonly epoch: string;
  /** In parts as they arrive, once. Throws when the snapshot is incomplete. */
  readonly records: AsyncIterable<readonly SnapshotRecord[]>;
}

/** Bounds the memory; records are much shorter. */
const LINE_CHARS_MAX = 16 * 1024 * 1024;

type Line = Readonly<Record<string, unknown>>;

/** `opening` ends the wait for the first line, `signal` the whole read. */
export async function openSnapshot(
  http: Http,
  path: string,
  signal: AbortSignal,
  opening: AbortSignal = signal,
): Promise<Snapshot> {
  const failing = new AbortController();
  const abort = (): void => failing.abort();
  opening.addEventListener('abort', abort);
  const timer = setTimeout(abort, http.attemptMs);
  try {
    const answer = await http.open(path, AbortSignal.any([signal, failing.signal]));
    if (answer.body === null) throw broken('The snapshot is empty');
    const pieces = readLines(answer.body, http.attemptMs);
    const first = await pieces.next();
    const [head, ...lines] = first.done === true ? [] : first.value;
    if (typeof head?.['lastSyncId'] !== 'string') throw broken('The snapshot has no first line');
    return { ...(head as Line & Omit<Snapshot, 'records'>), records: recordsOf(lines, pieces) };
  } catch (error) {
    abort();
    throw error;
  } finally {
    clearTimeout(timer);
    opening.removeEventListener('abort', abort);
  }
}

async function* recordsOf(
  begun: readonly Line[],
  pieces: AsyncGenerator<readonly Line[]>,
): AsyncGenerator<readonly SnapshotRecord[]> {
  let count = 0;
  let end: Line | undefined;
  const take = (lines: readonly Line[]): readonly SnapshotRecord[] => {
    if (lines.length > 0 && end !== undefined) throw broken('The snapshot goes on behind its end');
    const last = lines.at(-1);
    if (last !== undefined && !('__class' in last)) end = last;
    const records = end === undefined ? lines : lines.slice(0, -1);
    count += records.length;
    return records as readonly object[] as readonly SnapshotRecord[];
  };
  try {
    yield take(begun);
    for await (const lines of pieces) yield take(lines);
  } finally {
    await pieces.return(undefined);
  }
  if (end?.['type'] !== 'end' || end['rowCount'] !== count) throw broken('The snapshot is not whole');
}

/** The complete lines of each part that arrives. */
async function* readLines(body: ReadableStream<Uint8Array>, silenceMs: number): AsyncGenerator<readonly Line[]> {
  const reader = body.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await readWithin(reader, silenceMs);
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > LINE_CHARS_MAX) throw broken('A line of the snapshot is too long');
      if (lines.length > 0) yield lines.map((line) => JSON.parse(line) as Line);
      if (done) break;
    }
    if (rest !== '') throw broken('The last line of the snapshot is cut off');
  } catch (cause) {
    throw cause instanceof SyncError ? cause : broken('The snapshot cannot be read', cause);
  } finally {
    await reader.cancel().catch(() => {});
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

function readWithin(reader: Reader, ms: number): Promise<Awaited<ReturnType<Reader['read']>>> {
  return new Promise((resolve, reject) => {
    const lost = (message: string, cause?: unknown): void =>
      reject(new SyncError('connection_failed', message, { cause }));
    const timer = setTimeout(() => lost(`Nothing of the snapshot came in ${ms} ms`), ms);
    reader
      .read()
      .then(resolve, (cause: unknown) => lost('The connection failed within the snapshot', cause))
      .finally(() => clearTimeout(timer));
  });
}

function broken(message: string, cause?: unknown): SyncError {
  return new SyncError('answer_invalid', message, { cause });
}
