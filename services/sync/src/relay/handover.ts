import { chunkOfMessage, encodeForServer, TRACE_HEADER, traceOf } from '@wts/log/stream';
import { seldomWarning, type Logger } from '@wts/log';
import type { EntryChunk, LogStream } from '@wts/contracts';
import { subscribe } from '@wts/service-kit/nats';
import { endSpan, headerOf, startMessageSpan } from '@wts/service-kit/observe';
import { headers } from 'nats';
import { randomUUID } from 'node:crypto';
import { OtherReplicas, type NatsSource } from './other-replicas.ts';

export interface Handover extends Disposable {
  /** Calls the listener with each chunk committed in this process or another replica, in no particular order. */
  listen(listener: (chunk: EntryChunk) => void): () => void;
}

interface HandoverOptions {
  readonly nats: NatsSource;
  readonly of: LogStream;
  readonly onCommitted: (listener: (chunk: EntryChunk) => void) => void;
  readonly logger: Logger;
}

const SENDER = 'from';

/**
 * Delivers committed chunks as fast as possible: within this process by a call, to other replicas, if there are any, by a plain
 * NATS message without acknowledgement. Losing one is harmless, because the stream and the log have every chunk.
 */
export function openHandover({ nats, of, onCommitted, logger }: HandoverOptions): Handover {
  const self = randomUUID();
  const others = new OtherReplicas(nats, of, self);
  const listeners = new Set<(chunk: EntryChunk) => void>();
  const notify = (chunk: EntryChunk): void => {
    for (const listener of listeners) listener(chunk);
  };

  onCommitted((chunk) => {
    const connection = others.exist ? nats.connection() : null;
    if (connection !== null) {
      const header = headers();
      header.set(SENDER, self);
      const span = startMessageSpan(of.handover, 'PRODUCER', traceOf(chunk));
      if (span !== null) header.set(TRACE_HEADER, headerOf(span));
      connection.publish(of.handover, encodeForServer(connection, chunk, of), { headers: header });
      endSpan(span);
    }
    notify(chunk);
  });

  const warnOfUnreadable = seldomWarning(
    logger,
    'received a hand-over chunk that cannot be decoded; its entries are read from the log. Do all replicas run the same version?',
  );
  subscribe(nats, of.handover, (message) => {
    if (message.headers?.get(SENDER) === self) return;
    try {
      notify(chunkOfMessage(message, of.shard));
    } catch (failure) {
      warnOfUnreadable({ err: failure });
    }
  });

  return {
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    [Symbol.dispose]: () => others[Symbol.dispose](),
  };
}
