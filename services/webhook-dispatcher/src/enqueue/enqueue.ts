import { STREAM, type LogStream } from '@wts/contracts';
import { TRACE_HEADER, WakeSignal } from '@wts/log/stream';
import type { Nats } from '@wts/service-kit/nats';
import { every, type BackgroundContext, type Run } from '@wts/service-kit/background';
import type { Msg, Subscription } from 'nats';
import { addAbortListener } from 'node:events';
import { adoptWorkspaces, readBehind, readFollowed, type FollowedWorkspace } from '../store/workspaces.ts';
import { Steps, type StepsOptions } from './steps.ts';

/*
 * Every entry of a workspace with endpoints becomes its event and the deliveries of that event, in order, once.
 *
 * Each such workspace has a cursor in PostgreSQL; events, deliveries and the step of the cursor are one statement, which
 * changes nothing when the cursor is not where the step begins. So after any fault (a crash between two steps, an answer that
 * was lost, a replica that was suspended and continues beside its successor) the next step is the same: read the cursor and
 * the entries behind it. One replica does it at a time, the holder of a lease; the lease saves work and does not keep the order.
 *
 * A message of sync after each commit names the workspaces with new entries and carries no entry;
 * what no message named is found by reading all cursors. So what happens in workspaces without endpoints is not read.
 *
 * Keeps events.source.every-client, events.source.never-skipped and, up to the lanes, webhooks.order.commit.
 */

export interface EnqueueOptions extends Omit<StepsOptions, 'signal'> {
  /** For the session that holds the lease. */
  readonly databaseUrl: string;
  readonly nats: Pick<Nats, 'connection' | 'onConnect'>;
  readonly of: LogStream;
  readonly leaseSilenceMaxMs?: number;
}

export interface Enqueue extends AsyncDisposable {
  /** True while this process turns the log into events. */
  readonly isActive: boolean;
  /** These workspaces have an endpoint that was created or enabled. */
  follow(workspaceIds: readonly string[]): void;
}

const LEASE_KEY = 7_368_021;
const LEASE_RETRY_MS = 500;
/**
 * How late a change may be seen that no message brings; while there is a connection and nothing was found for a second, messages bring
 * all but those of a replica of sync without one. A look takes a twentieth of the time at most.
 */
const POLL_MS = 250;
const QUIET_POLL_MS = 1_000;
const POLL_SHARE = 20;
/** Sync publishes the workspaces of its commits only while it is announced that they are followed. */
const FOLLOWING_MS = 2_000;
/** Workspaces and their owners are read again after this: owners change, endpoints are deleted. */
const KNOWN_MS = 60_000;

export function openEnqueue(context: BackgroundContext, options: EnqueueOptions): Enqueue {
  const { databaseUrl: url, leaseSilenceMaxMs: silenceMaxMs, nats } = options;
  const following = new Following(options);
  // What was committed without a connection is not announced any more.
  nats.onConnect(() => following.look());
  const work = every(context, {
    name: 'enqueue',
    everyMs: LEASE_RETRY_MS,
    lease: { url, key: LEASE_KEY, silenceMaxMs },
    run: (run) => following.run(run),
    failing: 'events are held up; trying again. Check PostgreSQL',
  });
  return {
    get isActive() {
      return work.isActive;
    },
    follow: (workspaceIds) => following.follow(workspaceIds),
    [Symbol.asyncDispose]: () => work[Symbol.asyncDispose](),
  };
}

class Following {
  readonly #options: EnqueueOptions;
  readonly #wake = new WakeSignal();
  /** The owners of workspaces with an enabled endpoint; a workspace that is missing is found by the next look. */
  #owners = new Map<string, string>();
  #steps: Steps | null = null;
  #subscription: Subscription | null = null;
  #following: NodeJS.Timeout | undefined;
  #run: Run | null = null;

  constructor(options: EnqueueOptions) {
    this.#options = options;
  }

  #committed(workspaceIds: readonly string[]): void {
    const known = workspaceIds.flatMap((workspaceId) => {
      const ownerId = this.#owners.get(workspaceId);
      return ownerId === undefined ? [] : [{ workspaceId, ownerId }];
    });
    if (known.length > 0) this.#steps?.add(known);
  }

  look(): void {
    this.#listen();
    this.#wake.notify();
  }

  follow(workspaceIds: readonly string[]): void {
    if (this.#steps === null) return;
    readFollowed(this.#options.pool, workspaceIds).then(
      (followed) => this.#steps?.add(this.#know(followed)),
      (error: unknown) => this.#run?.failed(error),
    );
  }

  async run(run: Run): Promise<void> {
    const { signal: ended } = run;
    const { pool, logger, nats } = this.#options;
    logger.info({}, 'this replica turns the log into events');
    const stop = new AbortController();
    const steps = new Steps({ ...this.#options, signal: AbortSignal.any([ended, stop.signal]) });
    using _waking = addAbortListener(ended, () => this.#wake.notify());
    try {
      await adoptWorkspaces(pool);
      this.#steps = steps;
      this.#run = run;
      let foundAt = -Infinity;
      for (let knownAt = -Infinity; !ended.aborted;) {
        const startedAt = performance.now();
        if (startedAt - knownAt > KNOWN_MS) {
          const followed = await readFollowed(pool, null);
          this.#owners.clear();
          this.#know(followed);
          knownAt = startedAt;
        }
        const behind = await readBehind(pool);
        if (behind.length > 0) foundAt = startedAt;
        steps.add(this.#know(behind));
        run.succeeded();
        const isQuiet = nats.connection() !== null && startedAt - foundAt > QUIET_POLL_MS;
        const pollMs = isQuiet ? QUIET_POLL_MS : POLL_MS;
        await this.#wake.wait(Math.max(pollMs, (performance.now() - startedAt) * POLL_SHARE));
      }
    } finally {
      this.#steps = null;
      this.#run = null;
      this.#listen();
      stop.abort();
      await steps.settled();
    }
  }

  #know(followed: readonly FollowedWorkspace[]): readonly FollowedWorkspace[] {
    for (const { workspaceId, ownerId } of followed) this.#owners.set(workspaceId, ownerId);
    this.#listen();
    return followed;
  }

  /** While there is a workspace to follow, because otherwise each commit would cost this process a message. */
  #listen(): void {
    if (this.#steps === null || this.#owners.size === 0) {
      clearInterval(this.#following);
      this.#subscription?.unsubscribe();
      this.#subscription = null;
    } else if (this.#subscription?.isClosed() !== false) {
      const { nats, of, traces } = this.#options;
      const callback = (error: Error | null, message: Msg): void => {
        if (error !== null) return;
        const trace = message.headers?.get(TRACE_HEADER) ?? '';
        if (trace !== '') traces?.add((message.headers?.get(STREAM.tracedEvents) ?? '').split(','), trace);
        this.#committed(Buffer.from(message.data).toString('latin1').split(','));
      };
      this.#subscription = nats.connection()?.subscribe(of.committed, { callback }) ?? null;
      const announce = (): void => nats.connection()?.publish(of.followers);
      announce();
      clearInterval(this.#following);
      this.#following = setInterval(announce, FOLLOWING_MS).unref();
    }
  }
}
