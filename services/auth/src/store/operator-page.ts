/** A page of a list: items that have a text, after an item. */
export interface Page {
  readonly text: string | null;
  readonly after: string | null;
  readonly limit: number;
}

/** The condition of a page in the order of name and id: what has the text, after the row with an id. Of rows `alias` of `table`. */
export function pageCondition(
  alias: string,
  table: string,
  hasText: string,
  { text, after }: Omit<Page, 'limit'>,
): string {
  const conditions = [
    ...(text === null ? [] : [hasText]),
    ...(after === null
      ? []
      : [`(lower(${alias}.name), ${alias}.id) > (select lower(name), id from ${table} where id = :after)`]),
  ];
  return conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
}
