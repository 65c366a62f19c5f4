import { STREAM } from '@wts/contracts';
import type { EntryChunk } from '@wts/contracts';
import { LogReader } from '@wts/log';
import { chunkAfter, encodeChunk, messageIdOf } from '@wts/log/stream';
import { connect, headers, type NatsConnection } from 'nats';
import type { Pool } from 'pg';

/** Publishes entries of the log as the relay of the sync service does, or as no relay should. */
export class ChaosRelay implements AsyncDisposable {
  readonly #log: LogReader;
  readonly nc: NatsConnection;

  private constructor(log: LogReader, nc: NatsConnection) {
    this.#log = log;
    this.nc = nc;
  }

  static async open(pool: Pool, natsUrl: string): Promise<ChaosRelay> {
    const nc = await connect({ servers: new URL(natsUrl).host, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
    return new ChaosRelay(new LogReader(pool), nc);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.nc.close();
  }

  /** The chunk of these places. */
  async chunk(first: number, last: number): Promise<EntryChunk> {
    const { entries, epoch } = await this.#log.read(BigInt(first) - 1n, last - first + 1);
    const [head, ...rest] = entries;
    if (head === undefined) throw new Error(`nothing lies at ${first}`);
    return chunkAfter(epoch, String(first - 1), [head, ...rest]);
  }

  stream(chunk: EntryChunk, id: string | null = messageIdOf(chunk)): void {
    this.publish(STREAM.subject, encodeChunk(chunk), id);
  }

  handOver(chunk: EntryChunk): void {
    this.nc.publish(STREAM.handover, encodeChunk(chunk));
  }

  publish(subject: string, data: Uint8Array | string, id: string | null = null): void {
    const named = headers();
    if (id !== null) named.set('Nats-Msg-Id', id);
    this.nc.publish(subject, data, id === null ? {} : { headers: named });
  }
}
