import { STREAM } from '@wts/contracts';
import type { EntryChunk } from '@wts/contracts';
import { headers } from 'nats';
import type { JetStreamManager, JetStreamPublishOptions, NatsConnection } from 'nats';
import { encodeChunk, encodeWithoutEntries, messageIdOf, parseMessageId } from './chunk.ts';
import { isJetStreamError } from './topology.ts';

const NO_MESSAGE = 10037;
const WRONG_LAST_ID = 10070;
const WRONG_LAST_SEQUENCE = 10071;
/** What the server says of the last id when it has none. */
const NO_LAST_ID = /: $/;
/** An answer takes a millisecond; a lost one must not hold the log back for long, and asking again is harmless. */
const ACK_TIMEOUT_MS = 2_000;
/** What headers and protocol add to a message. */
const MESSAGE_OVERHEAD_BYTES = 1024;

export interface Publisher {
  /** Where the stream ends, asked of the server; null when it holds no message. Must be called before `publish`. */
  last(): Promise<{ epoch: string; last: bigint } | null>;
  /**
   * `stored`: the chunk is now the stream's last message. `duplicate`: it already was in it. `conflict`: the stream
   * does not end where this publisher thinks, somebody else has published: ask `last()` and go on from there.
   * Throws when there is no answer; then too `last()` tells what is true.
   */
  publish(chunk: EntryChunk): Promise<'stored' | 'duplicate' | 'conflict'>;
}

/**
 * Publishes chunks so that the stream is always one chain. Each message names itself (`Nats-Msg-Id`) and the message
 * it must follow; the server refuses it otherwise. Hence a second publisher, one that slept, and one that does not know
 * whether its last message arrived can do no harm: at most one of them extends the chain, the others learn of it.
 */
export function openPublisher(nc: NatsConnection): Publisher {
  const stream = nc.jetstream();
  let manager: JetStreamManager | undefined;
  let expected: NonNullable<JetStreamPublishOptions['expect']> | null = null;
  // A server that was restarted knows the last id only if it is in the duplicate window.
  let hasForgottenId = false;

  return {
    async last() {
      expected = null;
      manager ??= await nc.jetstreamManager({ checkAPI: false });
      try {
        // Answered by the stream's leader: a follower's answer could be old.
        const message = await manager.streams.getMessage(STREAM.name, { last_by_subj: STREAM.subject });
        const id = message.header.get('Nats-Msg-Id');
        const place = parseMessageId(id);
        if (place === null) throw new Error(`stream ${STREAM.name} ends with a message that is no chunk: "${id}"`);
        expected = hasForgottenId ? { lastSubjectSequence: message.seq } : { lastMsgID: id };
        hasForgottenId = false;
        return { epoch: place.epoch, last: place.last };
      } catch (error) {
        if (!isJetStreamError(error, NO_MESSAGE)) throw error;
        // Nothing to name. A stream whose messages have all expired still counts on, so its number is what to follow.
        const { state } = await manager.streams.info(STREAM.name);
        expected = { lastSequence: state.last_seq };
        return null;
      }
    },

    async publish(chunk) {
      if (expected === null) throw new Error('publish before last()');
      const id = messageIdOf(chunk);
      const header = headers();
      header.set('prev', chunk.prev);
      const options = {
        msgID: id,
        expect: { streamName: STREAM.name, ...expected },
        headers: header,
        timeout: ACK_TIMEOUT_MS,
      };
      expected = null;
      try {
        const ack = await stream.publish(STREAM.subject, encodeForServer(nc, chunk), options);
        expected = { lastMsgID: id };
        return ack.duplicate ? 'duplicate' : 'stored';
      } catch (error) {
        if (!isJetStreamError(error, WRONG_LAST_ID, WRONG_LAST_SEQUENCE)) throw error;
        // After the duplicate window the refusal is how the server says that this very chunk is already its last.
        hasForgottenId = NO_LAST_ID.test(error.message);
        if (!error.message.endsWith(`: ${id}`)) return 'conflict';
        expected = { lastMsgID: id };
        return 'duplicate';
      }
    },
  };
}

/** The chunk, or its hollow form when the server would not take so large a message. */
export function encodeForServer(nc: NatsConnection, chunk: EntryChunk): Uint8Array {
  const data = encodeChunk(chunk);
  const bytesMax = (nc.info?.max_payload ?? data.byteLength) - MESSAGE_OVERHEAD_BYTES;
  return data.byteLength <= bytesMax ? data : encodeWithoutEntries(chunk);
}
