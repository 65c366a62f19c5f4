import { ATTACK_NAMES, type AttackName } from '@wts/verify';

/** How much data and how many clients the benchmarks use. */
export interface Sizes {
  /** Of a load that does not count. */
  readonly warmUpSeconds: number;
  readonly bootstrapTasks: number;
  /** A single response may be too quick to measure, so it is repeated for so long. */
  readonly bootstrapMs: number;
  /** Until PostgreSQL has published its statistics, which it does about once a second. */
  readonly statisticsMs: number;
  readonly fanout: { readonly sockets: number; readonly actions: number };
  /** Of the memory, during the load. */
  readonly stalled: { readonly actions: number; readonly samples: number };
  readonly deltas: { readonly entries: number; readonly page: number };
  /**
   * `scale` is the share of the full amount of data that an attack prepares. The next attack begins when requests are as quick as
   * before, or after `recoverySeconds`.
   */
  readonly neighbor: {
    readonly attacks: readonly AttackName[];
    readonly scale: number;
    readonly recoverySeconds: number;
  };
  readonly people: { readonly people: readonly number[]; readonly tasks: number };
  /** Measured pairs of starts, because one takes so little time that single ones vary. */
  readonly starts: number;
  readonly webhooks: {
    /** Events per second. */
    readonly paces: readonly number[];
    readonly workspaces: number;
    /** One for each workspace and others of the same workspaces. */
    readonly endpointsEach: number;
    readonly rateEndpoints: number;
    /** Of each endpoint: more than the dispatcher reads ahead, so that it reads while it is measured, as job queues do. */
    readonly rateEvents: number;
    /** Until the first attempts that hang have run out of time. */
    readonly hangingSeconds: number;
    readonly claims: { readonly few: number; readonly many: number; readonly times: number };
  };
  readonly graphql: { readonly tasks: number; readonly walkedPages: number };
  readonly purgedTasks: number;
  readonly repeatingTasks: number;
  readonly transferTasks: number;
  readonly growth: {
    readonly tasks: readonly number[];
    readonly sockets: readonly number[];
    readonly groups: readonly number[];
    readonly entries: number;
  };
}

export const QUICK: Sizes = {
  warmUpSeconds: 1,
  bootstrapTasks: 50_000,
  bootstrapMs: 1_000,
  statisticsMs: 1_500,
  fanout: { sockets: 500, actions: 400 },
  stalled: { actions: 3_000, samples: 3 },
  deltas: { entries: 200_000, page: 1_000 },
  neighbor: { attacks: ATTACK_NAMES, scale: 1, recoverySeconds: 60 },
  people: { people: [2, 4, 16], tasks: 2_000 },
  starts: 9,
  webhooks: {
    paces: [20, 200, 1_000],
    workspaces: 100,
    endpointsEach: 10,
    rateEndpoints: 200,
    rateEvents: 100,
    hangingSeconds: 12,
    claims: { few: 5_000, many: 100_000, times: 5 },
  },
  graphql: { tasks: 100_000, walkedPages: 100 },
  purgedTasks: 20_000,
  repeatingTasks: 20_000,
  transferTasks: 100_000,
  growth: { tasks: [10_000, 100_000], sockets: [10, 100, 1_000], groups: [1, 10, 100], entries: 200_000 },
};

export const FULL: Sizes = {
  ...QUICK,
  purgedTasks: 1_000_000,
  repeatingTasks: 100_000,
  deltas: { ...QUICK.deltas, entries: 2_000_000 },
  webhooks: { ...QUICK.webhooks, claims: { ...QUICK.webhooks.claims, many: 1_000_000 } },
  growth: { ...QUICK.growth, tasks: [10_000, 100_000, 1_000_000] },
};

/** For the test that runs every benchmark: what a row cannot do without. */
export const SMALLEST: Sizes = {
  warmUpSeconds: 0,
  bootstrapTasks: 5,
  bootstrapMs: 1,
  statisticsMs: 10,
  fanout: { sockets: 2, actions: 2 },
  stalled: { actions: 10, samples: 1 },
  deltas: { entries: 400, page: 5 },
  neighbor: { attacks: ['dup'], scale: 0.01, recoverySeconds: 1 },
  people: { people: [2], tasks: 5 },
  starts: 1,
  webhooks: {
    paces: [20],
    workspaces: 1,
    endpointsEach: 2,
    rateEndpoints: 2,
    rateEvents: 5,
    hangingSeconds: 0.1,
    claims: { few: 2, many: 4, times: 1 },
  },
  graphql: { tasks: 20, walkedPages: 1 },
  purgedTasks: 5,
  repeatingTasks: 5,
  transferTasks: 5,
  growth: { tasks: [5, 10], sockets: [2], groups: [1, 2], entries: 400 },
};
