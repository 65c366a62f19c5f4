/** A person whose request is this recent counts as waiting, because work that starts now would delay their next request. */
const RECENT_MS = 500;

/** Stores the two people with the latest requests, which is enough to tell whether a person is alone. */
export class RecentPeople {
  #latest = { person: '', at: -Infinity };
  /** The latest request of any other person. */
  #before = { person: '', at: -Infinity };

  note(person: string): void {
    if (person !== this.#latest.person) this.#before = this.#latest;
    this.#latest = { person, at: performance.now() };
  }

  /** Whether another person had a request a moment ago. */
  hasOthers(person: string): boolean {
    const other = this.#latest.person === person ? this.#before : this.#latest;
    return performance.now() - other.at < RECENT_MS;
  }
}
