/** Where a cell is in the network of a cluster, and how many servers its stores have. */
export interface Place {
  readonly shard: number;
  /** What the names of its stores begin with. */
  readonly prefix: string;
  /** The name of its release, and so of its pods. */
  readonly release: string;
  readonly apiPort: number;
  readonly natsFrom: number;
  readonly natsCount: number;
  readonly postgresFrom: number;
  readonly hasStandby: boolean;
  readonly podsFrom: number;
  readonly podsTo: number;
}

export const FIRST: Place = {
  shard: 0,
  prefix: '',
  release: 'wts',
  apiPort: 4000,
  natsFrom: 11,
  natsCount: 3,
  postgresFrom: 21,
  hasStandby: true,
  podsFrom: 101,
  podsTo: 199,
};

/** One server of each store, because its failure is that of all of it. */
export const SECOND: Place = {
  shard: 1,
  prefix: 'one-',
  release: 'wts-one',
  apiPort: 4010,
  natsFrom: 31,
  natsCount: 1,
  postgresFrom: 41,
  hasStandby: false,
  podsFrom: 200,
  podsTo: 250,
};
