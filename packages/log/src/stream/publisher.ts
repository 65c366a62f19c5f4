import { STREAM } from '@wts/contracts';
import type { EntryChunk } from '@wts/contracts';
import { headers } from 'nats';
import type { JetStreamManager, JetStreamPublishOptions, NatsConnection, PubAck } from 'nats';
import { encodeChunk, encodeWithoutEntries, messageIdOf, parseMessageId } from './chunk.ts';
import { isJetStreamError } from './topology.ts';

const NO_MESSAGE = 10037;
const WRONG_LAST_ID = 10070;
const WRONG_LAST_SEQUENCE = 10071;
/** The end of the server's error when it stores no last id. */
const NO_LAST_ID = /: $/;
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
  publish(chunk: EntryChunk): Promise<'stored' | 'duplicate' | 'conflict'>;
}

/**
 * Publishes chunks so that the stream is always one chain. Each message names itself (`Nats-Msg-Id`) and the message it must
 * follow, and the server refuses it otherwise. So a second publisher, a publisher that was paused and one whose last message
 * got no reply are safe: at most one of them extends the chain, the others get `conflict`.
 */
export function openPublisher(nc: NatsConnection): Publisher {
  const stream = nc.jetstream();
  let manager: JetStreamManager | undefined;
  let end: StreamEnd | EmptyStream | null = null;

  async function store(chunk: EntryChunk, id: string, expected: Expectation): Promise<PubAck> {
    const header = headers();
    header.set('prev', chunk.prev);
    return stream.publish(STREAM.subject, encodeForServer(nc, chunk), {
      msgID: id,
      expect: { streamName: STREAM.name, ...expected },
      headers: header,
      timeout: ACK_TIMEOUT_MS,
    });
  }

  /** A restarted server has the last id only if it is in the duplicate window, but always the last sequence number. */
  async function storeAfter(after: StreamEnd | EmptyStream, chunk: EntryChunk, id: string): Promise<PubAck> {
    if (after.id === null) return store(chunk, id, { lastSequence: after.sequence });
    try {
      return await store(chunk, id, { lastMsgID: after.id });
    } catch (error) {
      const isLost = isJetStreamError(error, WRONG_LAST_ID) && NO_LAST_ID.test(error.message);
      if (!isLost || after.sequence === null) throw error;
      return store(chunk, id, { lastSubjectSequence: after.sequence });
    }
  }

  return {
    async last() {
      end = null;
      manager ??= await nc.jetstreamManager({ checkAPI: false });
      try {
        // The stream's leader replies; a follower's reply could be old.
        const message = await manager.streams.getMessage(STREAM.name, { last_by_subj: STREAM.subject });
        const id = message.header.get('Nats-Msg-Id');
        const last = parseMessageId(id);
        if (last === null) throw new Error(`stream ${STREAM.name} ends with a message that is no chunk: "${id}"`);
        end = { id, sequence: message.seq };
        return { epoch: last.epoch, last: last.last };
      } catch (error) {
        if (!isJetStreamError(error, NO_MESSAGE)) throw error;
        // A stream whose messages have all expired keeps its last sequence number: the next message follows that.
        const { state } = await manager.streams.info(STREAM.name);
        end = { id: null, sequence: state.last_seq };
        return null;
      }
    },

    async publish(chunk) {
      if (end === null) throw new Error('publish before last()');
      const after = end;
      end = null;
      const id = messageIdOf(chunk);
      try {
        const ack = await storeAfter(after, chunk, id);
        end = { id, sequence: ack.seq };
        return ack.duplicate ? 'duplicate' : 'stored';
      } catch (error) {
        if (!isJetStreamError(error, WRONG_LAST_ID, WRONG_LAST_SEQUENCE)) throw error;
        // After the duplicate window the server refuses also a chunk that is its last message already.
        if (!error.message.endsWith(`: ${id}`)) return 'conflict';
        end = { id, sequence: null };
        return 'duplicate';
      }
    },
  };
}

/** The message that the next one follows. */
interface StreamEnd {
  readonly id: string;
  /** Null when it is unknown. */
  readonly sequence: number | null;
}

/** A stream whose messages have all expired. */
interface EmptyStream {
  readonly id: null;
  readonly sequence: number;
}

type Expectation = NonNullable<JetStreamPublishOptions['expect']>;

/** The chunk; without its entries when the message would be larger than the server accepts. */
export function encodeForServer(nc: NatsConnection, chunk: EntryChunk): Uint8Array {
  const data = encodeChunk(chunk);
  const bytesMax = (nc.info?.max_payload ?? data.byteLength) - MESSAGE_OVERHEAD_BYTES;
  return data.byteLength <= bytesMax ? data : encodeWithoutEntries(chunk);
}
