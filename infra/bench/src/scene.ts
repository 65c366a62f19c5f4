import type { TestSystem } from '@wts/testkit';
import type { Target } from './target.ts';
import type { Peer } from './peer.ts';
import type { Line } from './plot.ts';
import type { Row } from './report.ts';

/** What a part is measured on: a system of its own, so that none is measured on what another left behind. */
export interface Scene {
  readonly testSystem: TestSystem;
  readonly ours: Target;
  readonly peer: Peer | null;
  readonly rounds: number;
  readonly seconds: number;
  readonly isFull: boolean;
  readonly say: (text: string) => void;
}

export interface Findings {
  readonly rows: readonly Row[];
  /** Of the part that grows something. */
  readonly lines?: readonly Line[];
  /** Everything measured, round by round. */
  readonly raw: unknown;
}
