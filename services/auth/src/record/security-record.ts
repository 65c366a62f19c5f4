import type { Logger } from '@wts/service-kit/observe';
import type { Knex } from 'knex';
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

export function openSecurityRecord(knex: Knex, options: StoreOptions, log: Logger): SecurityRecord {
  const act: SecurityRecord['act'] = async (work) => {
    const written: SecurityEvent[] = [];
    const result = await knex.transaction((transaction) => {
      const { events, ...stores } = openStores(transaction, options);
      const record = async (event: SecurityEvent): Promise<void> => {
        if (await events.insert(event)) written.push(event);
      };
      return work({ ...stores, transaction, record });
    });
    for (const event of written) logEvent(log, event);
    return result;
  };
  const { events } = openStores(knex, options);
  return {
    act,
    add: async (event) => {
      if (await events.insert(event)) logEvent(log, event);
    },
  };
}

function logEvent(log: Logger, { visitor, actor, ...event }: SecurityEvent): void {
  log.info({ event: { ...event, actor: actor?.kind ?? 'person', actorId: actor?.id, ...visitor } }, 'security event');
}
