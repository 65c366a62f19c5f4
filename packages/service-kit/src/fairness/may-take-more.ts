/** How many times as much as is free one may hold. */
const TIMES_FREE = 3;

/**
 * Whether one owner, or one network, who holds `own` of something may take one more, when `free` of it are free. For what its holder
 * alone gives back, such as a socket or an attempt that hangs: one who is alone gets three quarters, two get three sevenths
 * each, and something always stays free for the next.
 */
export function mayTakeMore(own: number, free: number): boolean {
  return own < TIMES_FREE * free;
}
