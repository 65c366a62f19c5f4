/** More recorded commits than a second has; their first attempts begin within milliseconds. */
const EVENTS_MAX = 4_096;
const NONE: ReadonlyMap<string, string> = new Map();

/**
 * The recorded traces of commits (`traceparent`), by their events, so that deliveries and attempts link to them. Only in memory, so an
 * attempt much later, or after a restart, has no span.
 */
export class EventTraces {
  readonly #traces = new Map<string, string>();

  add(eventIds: readonly string[], traceparent: string): void {
    for (const eventId of eventIds) this.#traces.set(eventId, traceparent);
    for (const oldest of this.#traces.keys()) {
      if (this.#traces.size <= EVENTS_MAX) break;
      this.#traces.delete(oldest);
    }
  }

  of(eventId: string): string | undefined {
    return this.#traces.size === 0 ? undefined : this.#traces.get(eventId);
  }

  /** The events that have one, with it. */
  among(events: readonly { readonly id: string }[]): ReadonlyMap<string, string> {
    if (this.#traces.size === 0) return NONE;
    const found = events.map(({ id }) => [id, this.#traces.get(id)] as const);
    return new Map(found.filter((one): one is readonly [string, string] => one[1] !== undefined));
  }
}
