import { natsInbox, natsUsername, type LogStream } from '@wts/contracts';
import { AckPolicy, DeliverPolicy, createInbox, nanos } from 'nats';
import type { ConsumerConfig, JetStreamManager, Msg, NatsConnection } from 'nats';
import { pause } from './wake-signal.ts';
import type { Logger } from '../logger.ts';

const HEARTBEAT_MS = 1_000;
/** After so many missed heartbeats in a row the consumer counts as gone. */
const HEARTBEATS_MISSED_MAX = 3;
const RETRY_MS = 500;
const REQUEST_TIMEOUT_MS = 2_000;

interface FollowOptions {
  readonly nc: () => NatsConnection | null;
  readonly of: LogStream;
  readonly onMessage: (message: Msg) => void;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** The last message received from one incarnation of the stream; a recreated stream counts from 1 again. */
interface StreamPosition {
  created: string;
  sequence: number;
}

/**
 * Keeps an ephemeral push consumer on the stream until the signal aborts, through lost connections and a deleted or recreated
 * stream. After an interruption it resumes after the last message when the stream still has that, else with new messages.
 * Messages may be missed: `consume` reads those from the log.
 *
 * The client library's own ordered consumer is not used because, after the stream was recreated, it waits for a
 * sequence number that is years away, and because it backs off for up to 30 s while the stream is missing.
 */
export async function follow(options: FollowOptions): Promise<void> {
  const { nc, signal, log } = options;
  const position: StreamPosition = { created: '', sequence: 0 };
  let isFollowing = true;
  while (!signal.aborted) {
    const connection = nc();
    try {
      if (connection === null || connection.isClosed()) throw new Error('no connection to NATS');
      await followOnce(connection, position, options, () => {
        isFollowing = true;
        log.info({ stream: options.of.name }, 'following the stream');
      });
    } catch (error) {
      if (isFollowing && !signal.aborted)
        log.warn({ err: error }, 'the stream cannot be followed; the log is read instead. Check NATS');
      isFollowing = false;
    }
    await pause(RETRY_MS, signal);
  }
}

async function followOnce(
  nc: NatsConnection,
  position: StreamPosition,
  options: FollowOptions,
  onOpen: () => void,
): Promise<void> {
  const manager = await nc.jetstreamManager({ checkAPI: false, timeout: REQUEST_TIMEOUT_MS });
  const inbox = createInbox(natsInbox(natsUsername('sync')));
  let receivedAt = performance.now();
  const subscription = nc.subscribe(inbox, {
    callback: (error, message) => {
      receivedAt = performance.now();
      if (error !== null || replyToControl(nc, message)) return;
      position.sequence = sequenceOf(message);
      options.onMessage(message);
    },
  });
  let name: string | undefined;
  try {
    name = await addConsumer(manager, inbox, { of: options.of, position });
    onOpen();
    while (!options.signal.aborted && !subscription.isClosed()) {
      await pause(HEARTBEAT_MS, options.signal);
      if (performance.now() - receivedAt > HEARTBEAT_MS * HEARTBEATS_MISSED_MAX)
        throw new Error('the stream is silent');
    }
  } finally {
    subscription.unsubscribe();
    // The server deletes an inactive consumer by itself; this only deletes it sooner.
    if (name !== undefined && !nc.isClosed()) await manager.consumers.delete(options.of.name, name).catch(() => false);
  }
}

async function addConsumer(
  manager: JetStreamManager,
  inbox: string,
  { of, position }: { readonly of: LogStream; readonly position: StreamPosition },
): Promise<string> {
  const { created, state } = await manager.streams.info(of.name);
  const resumes = created === position.created && position.sequence > 0 && position.sequence <= state.last_seq;
  if (!resumes) Object.assign(position, { created, sequence: state.last_seq });
  const config: Partial<ConsumerConfig> = {
    // Deprecated in favor of the client's own consumers only; the server's push consumers stay.
    // oxlint-disable-next-line typescript/no-deprecated
    deliver_subject: inbox,
    ack_policy: AckPolicy.None,
    max_deliver: 1,
    mem_storage: true,
    num_replicas: 1,
    flow_control: true,
    idle_heartbeat: nanos(HEARTBEAT_MS),
    inactive_threshold: nanos(30_000),
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: position.sequence + 1,
  };
  return (await manager.consumers.add(of.name, config)).name;
}

/** Heartbeats and flow control of a push consumer carry status 100; the server waits for a reply to the latter before it sends more. */
function replyToControl(nc: NatsConnection, message: Msg): boolean {
  if (message.headers?.code !== 100) return false;
  const replyTo =
    message.reply !== undefined && message.reply !== '' ? message.reply : message.headers.get('Nats-Consumer-Stalled');
  if (replyTo !== '') nc.publish(replyTo);
  return true;
}

/** `$JS.ACK.<stream>.<consumer>.<delivered>.<stream sequence>...`, with domain and account before it on newer servers. */
function sequenceOf(message: Msg): number {
  const tokens = (message.reply ?? '').split('.');
  return Number(tokens.length > 9 ? tokens[7] : tokens[5]) || 0;
}
