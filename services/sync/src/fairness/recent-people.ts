/** Who came within this time counts as if they waited: what one person begins now lasts until they come again. */
const RECENT_MS = 500;

/** The two people who came last, which is enough to know whether somebody has company. */
export class RecentPeople {
  #latest = { person: '', at: -Infinity };
  /** The latest of any other person. */
  #before = { person: '', at: -Infinity };

  note(person: string): void {
    if (person !== this.#latest.person) this.#before = this.#latest;
    this.#latest = { person, at: performance.now() };
  }

  /** Whether anyone else came a moment ago. */
  hasOthers(person: string): boolean {
    const other = this.#latest.person === person ? this.#before : this.#latest;
    return performance.now() - other.at < RECENT_MS;
  }
}
