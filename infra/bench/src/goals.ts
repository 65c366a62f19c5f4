/** Every goal of a benchmark, in one place. A ratio compares with what the row names; times are those of the row. */
export const GOALS = {
  mutate16x1: { peerRatioMin: 3, bareShareMin: 0.6 },
  mutate8x50: { peerRatioMin: 15, bareShareMin: 0.6 },
  alone: { cpuRatioMax: 1.2, p50RatioMax: 1.2 },
  live: { p50RatioMax: 1.5, p99RatioMax: 5 },
  bootstrapOne: { ratioMin: 4 },
  bootstrapTen: { ratioMin: 5 },
  fanout: { ratioMin: 2.5 },
  stalled: { grownMbMax: 10 },
  deltasOneGroup: { ratioMax: 2 },
  deltasManyGroups: { ratioMax: 3 },
  hop: { addedMsMax: 0.7, shareMin: 0.6 },
  neighbor: { p50RatioMax: 3, p99RatioMax: 10 },
  people: { ratioMin: 0.95 },
  webhookPaces: { addedMsMax: 5, p99RatioMax: 4 },
  webhookRate: { perSecondMin: 10_000, ratioMin: 1 },
  webhookNeighbors: { p99RatioMax: 2 },
  webhookClaim: { ratioMax: 2 },
  follower: { shareMax: 0.03 },
  /** Of requests of which one of a hundred is recorded. Recording every request has no goal: it is for development. */
  traces: { cpuRatioMax: 1.02 },
  graphql: { ratioMin: 1.2 },
  /** With the start of the program, its sorting and its hashes; an import also reads and compares what it has made. */
  export: { ratioMin: 0.1, residentMbMax: 400 },
  import: { ratioMin: 0.6, residentMbMax: 400 },
  start: { firstByteRatioMax: 1.5, cpuRatioMax: 2 },
  memory: { residentMbMax: 800 },
  /** Of a change and of a small read: the working copy compared with an earlier commit. */
  against: { ratioMin: 1 },
  /** The heap varies by itself. A hundred times as many tasks must not make it larger. */
  growth: { memoryRatioMax: 1.5, sizeRatioMin: 100 },
} as const;
