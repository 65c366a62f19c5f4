import type { Logger } from '@wts/service-kit/observe';
import type { Knex } from 'knex';
import type { ServiceMetrics } from '../metrics.ts';
import type { SecurityEvent } from '../domain/security-event.ts';
import { openStores, type StoreOptions, type Stores } from '../store/stores.ts';

/** The stores within the transaction of one act. */
export interface Act extends Omit<Stores, 'events'> {
  /** For statements of other stores. */
  readonly transaction: Knex;
  /** Writes an event of the act. */
  readonly record: (event: SecurityEvent) => Promise<void>;
}

/**
 * What happened with people's accounts and credentials: rows that are only added, and a log line each. An act and its events become true
 * together: nothing is done without its event, and no event is of something that was not done.
 * Keeps authentication.record.acts.
 */
export interface SecurityRecord {
  /** Does something in one transaction with its events. What it publishes, it publishes afterward. */
  act<T>(work: (act: Act) => Promise<T>): Promise<T>;
  /** Writes an event of something that no row shows, such as a wrong password. */
  add(event: SecurityEvent): Promise<void>;
}

/** Queues what the person of an event learns about it by mail, in its transaction. */
export type Notify = (transaction: Knex, event: SecurityEvent) => Promise<void>;

interface RecordOptions extends StoreOptions {
  readonly log: Logger;
  readonly metrics: Pick<ServiceMetrics, 'event'>;
  /** Default: nothing is mailed. */
  readonly notify?: Notify;
}

export function openSecurityRecord(
  knex: Knex,
  { log, metrics, notify = async () => undefined, ...options }: RecordOptions,
): SecurityRecord {
  const act: SecurityRecord['act'] = async (work) => {
    const events: [SecurityEvent, isWritten: boolean][] = [];
    const result = await knex.transaction((transaction) => {
      const { events: store, ...stores } = openStores(transaction, options);
      const record = async (event: SecurityEvent): Promise<void> => {
        const isWritten = await store.insert(event);
        events.push([event, isWritten]);
        if (isWritten) await notify(transaction, event);
      };
      return work({ ...stores, transaction, record });
    });
    for (const [event, isWritten] of events) {
      metrics.event(event.kind, isWritten ? 'written' : 'left_out');
      if (isWritten) logEvent(log, event);
    }
    return result;
  };
  return { act, add: (event) => act(({ record }) => record(event)) };
}

function logEvent(log: Logger, { visitor, actor, ...event }: SecurityEvent): void {
  log.info({ event: { ...event, actor: actor?.kind ?? 'person', actorId: actor?.id, ...visitor } }, 'security event');
}
