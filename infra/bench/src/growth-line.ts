/** How one cost grows with a size. */
export interface GrowthLine {
  readonly name: string;
  readonly who: 'ours' | 'peer';
  /** The unit of the cost. */
  readonly unit: string;
  /** The size. Lines with the same axis share a table. */
  readonly axis: string;
  readonly points: readonly { readonly size: number; readonly cost: number }[];
}
