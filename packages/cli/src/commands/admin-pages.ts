import type { Call } from '../call.ts';
import type { Output } from '../output/output.ts';
import type { View } from '../output/view.ts';
import { openOperator } from '../session/operator.ts';

const PAGE = 100;
const ROWS = { min: 1, max: 100_000 } as const;

/** The rows of a list that the words of a command find, page after page, and at most `--limit` of them. */
export async function allPages<Row>(call: Call, name: string, { id: idOf }: View<Row>): Promise<Row[]> {
  const { words, options, output } = call;
  const operator = await openOperator(call);
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
    const page = await operator.get<Page & Record<string, readonly Row[]>>(`/${name}`, query);
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
