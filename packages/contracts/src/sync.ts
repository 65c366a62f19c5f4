/** The operations under `/sync`, and what services ask of the sync service. */
export * from './sync/follow.ts';
export * from './sync/load.ts';
export * from './sync/mutate.ts';
