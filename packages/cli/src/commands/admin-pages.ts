import type { Call } from '../call.ts';
import type { Output } from '../output/output.ts';
import type { OperatorApi } from '../session/operator.ts';

interface Listed<Row> {
  readonly path: string;
  /** Of the list in the answer. */
  readonly name: string;
  readonly idOf: (row: Row) => string;
}

const PAGE = 100;
const ROWS = { min: 1, max: 100_000 } as const;

/** The rows that the words of a command find, page after page, and at most `--limit` of them. */
export async function allPages<Row>(
  { words, options, output }: Call,
  operator: OperatorApi,
  { path, name, idOf }: Listed<Row>,
): Promise<Row[]> {
  const most = options.number('limit', ROWS) ?? ROWS.max;
  const rows: Row[] = [];
  const away = new Set<string>();
  for (let hasMore = true; hasMore && rows.length < most;) {
    const last = rows.at(-1);
    const query = {
      text: words.length === 0 ? undefined : words.join(' '),
      after: last === undefined ? undefined : idOf(last),
      limit: Math.min(PAGE, most - rows.length),
    };
    type Page = OfCells & { readonly hasMore: boolean };
    const page = await operator.get<Page & Record<string, readonly Row[]>>(path, query);
    rows.push(...(page[name] ?? []));
    for (const url of page.away ?? []) away.add(url);
    hasMore = page.hasMore;
  }
  await warnOfAway(output, { away: [...away] });
  return rows;
}

/** Of an answer that lacks what is in cells that did not answer. */
export interface OfCells {
  readonly away?: readonly string[];
}

export async function warnOfAway(output: Pick<Output, 'warn'>, { away = [] }: OfCells): Promise<void> {
  if (away.length > 0) await output.warn(`No answer from ${away.join(', ')}: what is there is missing.`);
}
