import type { LogStream } from '@wts/contracts';
import { subscribe, type Nats } from '@wts/service-kit/nats';

export type NatsSource = Pick<Nats, 'connection' | 'onConnect'>;

const ANNOUNCE_MS = 2_000;
/** Three announcements may be lost. */
const EXPIRES_MS = 7_000;
const REPLICAS_MAX = 256;

/**
 * Whether there are other replicas that take hand-overs: each announces itself on connecting, every two seconds, and at once when
 * a new one does. A replica that is alone sends no hand-over. One that is not seen yet, or no longer, receives its entries by the
 * stream.
 */
export class OtherReplicas implements Disposable {
  readonly #nats: NatsSource;
  readonly #of: LogStream;
  readonly #self: string;
  readonly #seenAt = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(nats: NatsSource, of: LogStream, self: string) {
    this.#nats = nats;
    this.#of = of;
    this.#self = self;
    subscribe(nats, of.replicas, (message) => this.#see(message.string()));
    nats.onConnect(() => this.#announce());
    this.#timer = setInterval(() => this.#announce(), ANNOUNCE_MS).unref();
  }

  get exist(): boolean {
    return this.#seenAt.size > 0;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #see(id: string): void {
    if (id === this.#self) return;
    const isNew = !this.#seenAt.has(id);
    if (isNew && this.#seenAt.size >= REPLICAS_MAX) return;
    this.#seenAt.set(id, performance.now());
    if (isNew) this.#announce();
  }

  #announce(): void {
    const now = performance.now();
    for (const [id, at] of this.#seenAt) if (now - at > EXPIRES_MS) this.#seenAt.delete(id);
    this.#nats.connection()?.publish(this.#of.replicas, this.#self);
  }
}
