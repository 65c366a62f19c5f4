import { STREAM, type EntryChunk, type LogStream } from '@wts/contracts';
import { headers, type JetStreamManager, type NatsConnection } from 'nats';
import { encodeChunk, encodeWithoutEntries, messageIdOf, parseMessageId, TRACE_HEADER } from './chunk.ts';
import { isJetStreamError } from './topology.ts';

const NO_MESSAGE = 10037;
const WRONG_LAST_SEQUENCE = 10071;
/** A reply takes a millisecond; a lost one must not delay the log for long, and publishing again is harmless. */
const ACK_TIMEOUT_MS = 2_000;
/** What headers and protocol add to a message. */
const MESSAGE_OVERHEAD_BYTES = 1024;

export interface Publisher {
  /** Reads the end of the stream from the server; null when it holds no message. Must be called before `publish`. */
  last(): Promise<{ epoch: string; last: bigint } | null>;
  /**
   * `stored`: the chunk is now the stream's last message. `duplicate`: the stream had it already. `conflict`: another publisher
   * extended the stream; call `last()` and continue from there. Rejects when the server does not reply: call `last()` then too.
   */
  publish(chunk: EntryChunk, traceparent?: string): Promise<'stored' | 'duplicate' | 'conflict'>;
}

/**
 * Publishes chunks so that the stream is always one chain. Each message names itself (`Nats-Msg-Id`) and the sequence number that
 * it must follow, and the server refuses it otherwise. So a second publisher, a publisher that was paused and one whose last
 * message got no reply are safe: at most one of them extends the chain, the others get `conflict`.
 *
 * It does not name the message that it must follow (`Nats-Expected-Last-Msg-Id`). A cluster compares that only when each server
 * stores the message, after it was accepted: NATS 2.14 takes a second publisher's message for a broken stream, and no server
 * continues with the stream until an operator deletes it. A restarted server also forgets ids after the duplicate window.
 */
export function openPublisher(nc: NatsConnection, of: LogStream = STREAM): Publisher {
  const stream = nc.jetstream();
  let manager: JetStreamManager | undefined;
  /** The sequence number of the last message. */
  let end: number | null = null;

  return {
    async last() {
      end = null;
      manager ??= await nc.jetstreamManager({ checkAPI: false });
      try {
        // The stream's leader replies; a follower's reply could be old.
        const message = await manager.streams.getMessage(of.name, { last_by_subj: of.subject });
        const id = message.header.get('Nats-Msg-Id');
        const last = parseMessageId(id);
        if (last === null) throw new Error(`stream ${of.name} ends with a message that is no chunk: "${id}"`);
        end = message.seq;
        return { epoch: last.epoch, last: last.last };
      } catch (error) {
        if (!isJetStreamError(error, NO_MESSAGE)) throw error;
        // A stream whose messages have all expired keeps its last sequence number: the next message follows that.
        const { state } = await manager.streams.info(of.name);
        end = state.last_seq;
        return null;
      }
    },

    async publish(chunk, traceparent) {
      if (end === null) throw new Error('publish before last()');
      const lastSequence = end;
      end = null;
      const header = headers();
      header.set('prev', chunk.prev);
      if (traceparent !== undefined) header.set(TRACE_HEADER, traceparent);
      try {
        const ack = await stream.publish(of.subject, encodeForServer(nc, chunk, of), {
          msgID: messageIdOf(chunk),
          expect: { streamName: of.name, lastSequence },
          headers: header,
          timeout: ACK_TIMEOUT_MS,
        });
        end = ack.seq;
        return ack.duplicate ? 'duplicate' : 'stored';
      } catch (error) {
        if (isJetStreamError(error, WRONG_LAST_SEQUENCE)) return 'conflict';
        throw error;
      }
    },
  };
}

/** The chunk; without its entries when the message would be larger than the server accepts. */
export function encodeForServer(nc: NatsConnection, chunk: EntryChunk, { shard }: LogStream): Uint8Array {
  const data = encodeChunk(chunk, shard);
  const bytesMax = (nc.info?.max_payload ?? data.byteLength) - MESSAGE_OVERHEAD_BYTES;
  return data.byteLength <= bytesMax ? data : encodeWithoutEntries(chunk, shard);
}
