/** The wall clock minus `performance.now`, read when the millisecond of the wall clock changes. */
export function wallClockOffset(): number {
  const began = Date.now();
  let now = began;
  while (now === began) now = Date.now();
  return now - performance.now();
}
