/** Explicit, because at any other level a wait for a lock would end in an error and not in the newer row. */
export const BEGIN = 'begin isolation level read committed';

export const COMMIT = 'commit';

export const ROLLBACK = 'rollback';

/** How long each statement of the rest of this transaction waits for a lock: a PostgreSQL interval such as `200ms`. */
export const waitForLocks = (interval: string): string => `set local lock_timeout = '${interval}'`;
