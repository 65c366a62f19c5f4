import type { Call } from '../call.ts';

interface Page<Row> {
  readonly nodes: readonly Row[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

interface Listed<Row> {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
}

/** What GraphQL gives at most at once. */
const PAGE_MAX = 100;

/** Rows of the connection `page` of a document with `$first` and `$after`, page after page, up to a limit. */
export async function pagesOf<Row>(
  { session, signal }: Call,
  document: string,
  variables: object,
  limit = Infinity,
): Promise<Listed<Row>> {
  const { api } = await session();
  const rows: Row[] = [];
  for (let after: string | null = null; ;) {
    const first = Math.min(PAGE_MAX, limit - rows.length);
    type Answer = { readonly page: Page<Row> };
    const { page }: Answer = await api.graphql<Answer>(document, { ...variables, first, after }, { signal });
    rows.push(...page.nodes);
    const hasMore = page.pageInfo.hasNextPage;
    if (!hasMore || rows.length >= limit) return { rows, hasMore };
    after = page.pageInfo.endCursor;
  }
}

/** How many rows a list has. */
export function limitOf({ options }: Call, standard: number): number {
  return options.number('limit', { min: 1, max: 10_000 }) ?? standard;
}

/** For a person whose list ends before its end. */
export async function noteMore({ output }: Call, limit: number): Promise<void> {
  await output.note(`The first ${limit}; there are more: --limit ${limit * 10}`);
}
