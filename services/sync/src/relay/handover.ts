import { decodeChunk, encodeForServer } from '@wts/log/stream';
import type { Logger } from '@wts/log';
import { STREAM } from '@wts/contracts';
import type { EntryChunk } from '@wts/contracts';
import { subscribe } from '@wts/service-kit/nats';
import { headers } from 'nats';
import type { NatsConnection } from 'nats';
import { randomUUID } from 'node:crypto';

/** The connection to NATS, as the service kit keeps it. */
export interface NatsSource {
  connection(): NatsConnection | null;
  onConnect(callback: (connection: NatsConnection) => void): void;
}

export interface Handover {
  /** Called with chunks committed in this process or in another replica, as soon as they are known, in no order. */
  listen(listener: (chunk: EntryChunk) => void): () => void;
}

interface HandoverOptions {
  readonly nats: NatsSource;
  readonly onCommitted: (listener: (chunk: EntryChunk) => void) => void;
  readonly logger: Logger;
}

const SENDER = 'from';

/**
 * The shortest way of a committed chunk: within this process by a call, to the other replicas by a plain NATS message
 * without any promise. Nothing rests on it: a chunk that gets lost here comes by the stream or from the log.
 */
export function openHandover({ nats, onCommitted, logger }: HandoverOptions): Handover {
  const self = randomUUID();
  const listeners = new Set<(chunk: EntryChunk) => void>();
  const notify = (chunk: EntryChunk): void => {
    for (const listener of listeners) listener(chunk);
  };

  onCommitted((chunk) => {
    const connection = nats.connection();
    if (connection !== null) {
      const header = headers();
      header.set(SENDER, self);
      connection.publish(STREAM.handover, encodeForServer(connection, chunk), { headers: header });
    }
    // After it was encoded: who listens here asks how large it is.
    notify(chunk);
  });

  subscribe(nats, STREAM.handover, ({ headers: from, data }) => {
    if (from?.get(SENDER) === self) return;
    try {
      notify(decodeChunk(data));
    } catch (failure) {
      logger.warn({ err: failure }, 'unreadable chunk handed over; the log has it');
    }
  });

  return {
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
