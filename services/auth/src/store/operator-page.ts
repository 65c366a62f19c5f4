/** A page of a list: items that have a text, after an item. */
export interface Page {
  readonly text: string | null;
  readonly after: string | null;
  readonly limit: number;
}
