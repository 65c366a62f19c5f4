import type { Connection, Found, Page } from '../store/connection.ts';
import { cursorOf } from '../store/cursor.ts';

/** A record of a page, with its cursor when it is selected. */
class Edge {
  readonly node: Found;
  readonly #connection: Connection;

  constructor(connection: Connection, node: Found) {
    this.#connection = connection;
    this.node = node;
  }

  get cursor(): string {
    return cursorOf(this.#connection.model, this.#connection.keys, this.node);
  }
}

/** A page as the schema shows it; what is not selected is not made. */
export class ConnectionResult {
  readonly #connection: Connection;
  readonly #page: Page;
  readonly totalCount: () => Promise<number>;

  constructor(connection: Connection, page: Page, totalCount: () => Promise<number>) {
    this.#connection = connection;
    this.#page = page;
    this.totalCount = totalCount;
  }

  get nodes(): readonly Found[] {
    return this.#page.records;
  }

  get edges(): readonly Edge[] {
    return this.#page.records.map((record) => new Edge(this.#connection, record));
  }

  /** Beyond the end from which a page was read there are records where the reader came from. */
  get pageInfo(): object {
    const { isBackward, after, before, model, keys } = this.#connection;
    const { records, hasMore } = this.#page;
    const cursor = (record: Found | undefined): string | null => (record ? cursorOf(model, keys, record) : null);
    return {
      hasNextPage: isBackward ? before !== null : hasMore,
      hasPreviousPage: isBackward ? hasMore : after !== null,
      startCursor: cursor(records[0]),
      endCursor: cursor(records.at(-1)),
    };
  }
}

export const EMPTY_PAGE: Page = { records: [], hasMore: false };
