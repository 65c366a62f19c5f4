/** How many times as much as is free one owner may hold. */
const TIMES_FREE = 3;

/**
 * Whether the owner of workspaces who holds `own` of something may take one more, when `free` of it are free. So one who is alone
 * gets three quarters, two get three sevenths each, and something always stays free for the next owner: an attempt that
 * hangs cannot be asked to give its place back.
 */
export function mayTakeMore(own: number, free: number): boolean {
  return own < TIMES_FREE * free;
}
