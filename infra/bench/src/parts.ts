import { INSPECTABLE } from './memory.ts';
import { bootstrapRows } from './rows/bootstrap.ts';
import { deltaRows } from './rows/deltas.ts';
import { fanoutRows } from './rows/fanout.ts';
import { FULL, growthLines, QUICK } from './rows/growth.ts';
import { hopRows } from './rows/hop.ts';
import { COMMIT_TIMES, liveRows } from './rows/live.ts';
import { missingRows } from './rows/missing.ts';
import { mutateRows } from './rows/mutate.ts';
import { neighborRows } from './rows/neighbor.ts';
import { stalledRows } from './rows/stalled.ts';
import type { Findings, Scene } from './scene.ts';
import type { Start } from './system.ts';

export interface BenchPart {
  /** About how long it takes with the defaults and the peer, and with --full. */
  readonly seconds: number;
  readonly secondsFull: number;
  readonly measure: (scene: Scene) => Promise<Findings>;
  /** How the processes measured are started. */
  readonly start?: Start;
}

/** In the order of the table of the README. */
export const PARTS = {
  mutate: { seconds: 75, secondsFull: 110, measure: mutateRows },
  missing: { seconds: 35, secondsFull: 45, measure: missingRows },
  live: { seconds: 65, secondsFull: 90, measure: liveRows, start: { postgres: COMMIT_TIMES } },
  bootstrap: { seconds: 60, secondsFull: 60, measure: bootstrapRows },
  fanout: { seconds: 60, secondsFull: 60, measure: fanoutRows },
  stalled: { seconds: 80, secondsFull: 80, measure: stalledRows, start: { nodeOptions: INSPECTABLE } },
  deltas: {
    seconds: 25,
    secondsFull: 120,
    measure: async ({ testSystem, ours, isFull, seconds }: Scene) => {
      const rows = await deltaRows(testSystem, ours, isFull ? 2_000_000 : 200_000, seconds);
      return { rows, raw: rows };
    },
  },
  hop: { seconds: 45, secondsFull: 70, measure: hopRows },
  neighbor: { seconds: 420, secondsFull: 600, measure: neighborRows },
  growth: {
    seconds: 150,
    secondsFull: 480,
    measure: (scene: Scene) => growthLines(scene, scene.isFull ? FULL : QUICK),
  },
} satisfies Record<string, BenchPart>;

export type PartName = keyof typeof PARTS;

export const PART_NAMES = Object.keys(PARTS) as readonly PartName[];
