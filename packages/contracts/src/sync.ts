/** The operations under `/sync`, and the internal operations of sync. */
export * from './sync/follow.ts';
export * from './sync/load.ts';
export * from './sync/mutate.ts';
export * from './sync/records.ts';
export * from './sync/moves.ts';
