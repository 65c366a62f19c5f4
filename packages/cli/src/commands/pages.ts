export interface Page<Row> {
  readonly nodes: readonly Row[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** What GraphQL gives at most at once. */
const PAGE_MAX = 100;

/** Rows of a connection, page after page, up to a limit. */
export async function pagesOf<Row>(
  read: (page: { readonly first: number; readonly after: string | null }) => Promise<Page<Row>>,
  limit: number,
): Promise<{ readonly rows: readonly Row[]; readonly hasMore: boolean }> {
  const rows: Row[] = [];
  let after: string | null = null;
  for (;;) {
    const { nodes, pageInfo }: Page<Row> = await read({ first: Math.min(PAGE_MAX, limit - rows.length), after });
    rows.push(...nodes);
    const hasMore = pageInfo.hasNextPage;
    if (!hasMore || rows.length >= limit) return { rows, hasMore };
    after = pageInfo.endCursor;
  }
}
