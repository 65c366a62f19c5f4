/**
 * What every reader of schema `sync` waits for before it is ready: the newest migration of sync. An older one would do for most, but
 * then each would need one of its own. Migrations of sync run before the services of a version start.
 */
export const SYNC_SCHEMA = { schema: 'sync', migration: '0027-divide-search-texts' } as const;
